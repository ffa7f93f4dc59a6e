//! The servers of a store, and who serves what now.

use std::fmt;
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use tokio::sync::watch;

use super::bootstrap::first_topology;
use super::slots::Topology;
use crate::clock::Instant;
use crate::error::Error;
use crate::slot::Slot;
use crate::store::redis::address::Address;
use crate::store::redis::env::Env;
use crate::store::redis::node::{Node, NodeId};

/// The topology as it is now.
pub(crate) struct Servers {
    env: Arc<Env>,
    topology: ArcSwap<Topology>,
    is_cluster: bool,
    /// Tells whoever waits for a server that others may serve its slots now.
    changes: watch::Sender<()>,
}

impl Servers {
    /// Finds the servers, from the seeds on.
    pub(crate) async fn find(env: &Arc<Env>, deadline: Instant) -> Result<Arc<Self>, Error> {
        let (topology, is_cluster) = first_topology(env, deadline).await?;
        Ok(Arc::new(Self {
            env: Arc::clone(env),
            topology: ArcSwap::from_pointee(topology),
            is_cluster,
            changes: watch::Sender::default(),
        }))
    }

    /// The topology for a moment: costs next to nothing.
    pub(crate) fn now(&self) -> Guard<Arc<Topology>> {
        self.topology.load()
    }

    /// The topology, to keep.
    pub(crate) fn topology(&self) -> Arc<Topology> {
        self.topology.load_full()
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.is_cluster
    }

    pub(super) fn env(&self) -> &Arc<Env> {
        &self.env
    }

    /// Completes once the topology is as wanted.
    pub(crate) async fn until(&self, is_wanted: impl Fn(&Topology) -> bool) {
        // Before the first look, so that no change is missed.
        let mut changes = self.changes.subscribe();
        while !is_wanted(&self.topology.load()) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// The node that serves a slot.
    pub(crate) fn node_of(&self, slot: Slot) -> NodeId {
        self.topology.load().node_id(slot)
    }

    /// The node at an address that a redirect named.
    pub(crate) fn node_at(&self, address: Address) -> Arc<Node> {
        if let Some(node) = self.topology.load().by_address(&address) {
            return node;
        }
        let node = Node::new(address, &self.env);
        self.topology
            .rcu(|topology| topology.with_node(Arc::clone(&node)));
        node
    }

    /// Takes a new topology over if it differs; whether it does.
    pub(super) fn adopt(&self, topology: Topology) -> bool {
        let differs = !self.topology.load().same_slots(&topology);
        if differs {
            self.env.stats.topology_changes.count();
            self.topology.store(Arc::new(topology));
            self.changes.send_replace(());
        }
        differs
    }

    /// Closes all connections, after the store's tasks.
    pub(crate) fn close(&self) {
        for node in self.topology.load().nodes() {
            node.close();
        }
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers")
            .field("topology", &self.now())
            .field("is_cluster", &self.is_cluster)
            .finish_non_exhaustive()
    }
}
