//! The servers of a store, and which node serves which slot.

use std::fmt;
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use tokio::sync::watch;

use super::refresher::first_topology;
use crate::clock::Instant;
use crate::error::Error;
use crate::slot::Slot;
use crate::store::redis::address::Address;
use crate::store::redis::env::Env;
use crate::store::redis::node::{Node, NodeId};
use crate::store::redis::wire::{Range, View};

/// The topology as it is now.
pub(crate) struct Servers {
    env: Arc<Env>,
    topology: ArcSwap<Topology>,
    is_cluster: bool,
    /// Notifies callers that wait for a server that others may serve its slots now.
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
            let topology = Arc::new(topology);
            let before = self.topology.swap(Arc::clone(&topology));
            self.changes.send_replace(());
            for node in before.nodes() {
                if topology.by_id(node.id()).is_none() {
                    node.give_up();
                }
            }
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

/// A slot without a server.
const NOBODY: u16 = u16::MAX;

/// The nodes and their slots at one time. Never changed, only replaced.
pub(crate) struct Topology {
    nodes: Vec<Arc<Node>>,
    /// Slot -> index into `nodes`, or [`NOBODY`].
    slots: Box<[u16]>,
}

impl Topology {
    /// The topology that a view describes. Nodes that stay are taken from `known`, with their connections.
    pub(super) fn new(view: &View, known: &[Arc<Node>], env: &Arc<Env>) -> Self {
        let mut slots = vec![NOBODY; usize::from(Slot::COUNT)].into_boxed_slice();
        let mut nodes: Vec<Arc<Node>> = Vec::new();
        for Range {
            first,
            last,
            master,
        } in &view.ranges
        {
            let index = nodes
                .iter()
                .position(|node| node.address() == master)
                .unwrap_or_else(|| {
                    nodes.push(
                        find(known, master).unwrap_or_else(|| Node::new(master.clone(), env)),
                    );
                    nodes.len() - 1
                });
            // A cluster has at most a thousand nodes or so.
            let index = u16::try_from(index).unwrap_or(NOBODY);
            slots[usize::from(*first)..=usize::from(*last)].fill(index);
        }
        Self { nodes, slots }
    }

    /// The node to ask about a slot: its owner, or any node if it has none, which may know more or report that the cluster is
    /// down.
    pub(crate) fn node(&self, slot: Slot) -> Option<&Arc<Node>> {
        let slot = usize::from(slot.as_u16());
        let index = match self.slots[slot] {
            NOBODY => slot % self.nodes.len().max(1),
            index => usize::from(index),
        };
        self.nodes.get(index)
    }

    /// The id of the node to ask about a slot.
    pub(crate) fn node_id(&self, slot: Slot) -> NodeId {
        self.node(slot).map_or(NodeId::NOBODY, |node| node.id())
    }

    pub(crate) fn by_id(&self, id: NodeId) -> Option<&Arc<Node>> {
        self.nodes.iter().find(|node| node.id() == id)
    }

    pub(super) fn by_address(&self, address: &Address) -> Option<Arc<Node>> {
        find(&self.nodes, address)
    }

    pub(crate) fn nodes(&self) -> &[Arc<Node>] {
        &self.nodes
    }

    /// The nodes that serve slots.
    pub(crate) fn masters(&self) -> Vec<Arc<Node>> {
        let mut indices: Vec<u16> = self.slots.to_vec();
        indices.sort_unstable();
        indices.dedup();
        let nodes = indices
            .iter()
            .filter_map(|i| self.nodes.get(usize::from(*i)));
        nodes.cloned().collect()
    }

    /// These slots, with one more node: the target of a redirect, unknown so far.
    pub(super) fn with_node(&self, node: Arc<Node>) -> Self {
        let mut nodes = self.nodes.clone();
        nodes.push(node);
        Self {
            nodes,
            slots: self.slots.clone(),
        }
    }

    /// Whether the same servers serve the same slots.
    pub(super) fn same_slots(&self, other: &Self) -> bool {
        let id = |topology: &Self, index: u16| {
            let node = topology.nodes.get(usize::from(index));
            node.map(|node| node.id())
        };
        if self.slots == other.slots {
            let used = self.slots.iter().filter(|index| **index != NOBODY).max();
            return used
                .is_none_or(|used| (0..=*used).all(|index| id(self, index) == id(other, index)));
        }
        let mut pairs: Vec<_> = self.slots.iter().zip(&other.slots).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.iter().all(|(a, b)| id(self, **a) == id(other, **b))
    }
}

fn find(nodes: &[Arc<Node>], address: &Address) -> Option<Arc<Node>> {
    nodes.iter().find(|node| node.address() == address).cloned()
}

impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unserved = self.slots.iter().filter(|node| **node == NOBODY).count();
        f.debug_struct("Topology")
            .field("nodes", &self.nodes)
            .field("unserved_slots", &unserved)
            .finish_non_exhaustive()
    }
}
