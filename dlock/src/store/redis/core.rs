//! The heart of a store: the topology and what keeps it.

use std::sync::Arc;

use arc_swap::ArcSwap;
use redis::Pipeline;
use tokio::time::Instant;

use super::address::Address;
use super::bootstrap::{self, first_topology};
use super::crowds::Crowds;
use super::env::Env;
use super::node::{Node, NodeId};
use super::options::RedisOptions;
use super::pubsub::PubSub;
use super::refresher::refresh_forever;
use super::topology::Topology;
use super::wire::PublishMode;
use crate::error::Error;
use crate::protocol::ClientId;
use crate::slot::Slot;

/// What the store and its tasks share.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) env: Arc<Env>,
    pub(super) topology: Arc<ArcSwap<Topology>>,
    pub(super) is_cluster: bool,
    pub(super) crowds: Crowds,
    pub(super) pubsub: Arc<PubSub>,
}

impl Core {
    /// Finds the servers and starts the background tasks.
    pub(super) async fn start(
        options: RedisOptions,
        client: &ClientId,
        deadline: Instant,
    ) -> Result<Arc<Self>, Error> {
        let env = Arc::new(Env::new(options, client));
        let (topology, is_cluster) = first_topology(&env, deadline).await?;
        let topology = Arc::new(ArcSwap::from_pointee(topology));
        let core = Arc::new(Self {
            pubsub: PubSub::new(&env, &topology),
            env,
            topology,
            is_cluster,
            crowds: Crowds::new(),
        });
        core.env.tasks.spawn(refresh_forever(Arc::clone(&core)));
        Ok(core)
    }

    pub(super) fn node_of(&self, slot: Slot) -> NodeId {
        let topology = self.topology.load();
        topology.node(slot).map_or(NodeId::NOBODY, |node| node.id())
    }

    /// How scripts are told to publish.
    pub(super) fn publishing(&self) -> &'static str {
        self.env.publish.get().letter(self.is_cluster)
    }

    /// How scripts are told to publish at a node that a slot is moving to.
    pub(super) fn publishing_behind_asking(&self) -> &'static str {
        match self.env.publish.get() {
            PublishMode::Sharded => "R",
            mode => mode.letter(self.is_cluster),
        }
    }

    /// Publishes at the node that owns a slot, where its subscribers are, what a script at the node that the slot is
    /// moving to has left to the client.
    pub(super) fn pass_notes(&self, slot: Slot, notes: Vec<(String, String)>) {
        let owner = self.topology.load().node(slot).cloned();
        let Some(owner) = owner.filter(|_| !notes.is_empty()) else {
            return;
        };
        let until = Instant::now() + self.env.options.response_timeout;
        self.env.tasks.spawn(async move {
            let mut pipeline = Pipeline::with_capacity(notes.len());
            for (channel, message) in &notes {
                pipeline.cmd("SPUBLISH").arg(channel).arg(message);
            }
            if let Ok(mut lease) = owner.connected(until).await {
                // Who does not hear looks at its next heartbeat.
                let _ = lease.connection.request_all(&pipeline, until).await;
            }
        });
    }

    /// The node at an address that a redirect named.
    pub(super) fn node_at(&self, address: Address) -> Arc<Node> {
        if let Some(node) = self.topology.load().by_address(&address) {
            return node;
        }
        let node = Node::new(address, &self.env);
        self.topology
            .rcu(|topology| topology.with_node(Arc::clone(&node)));
        node
    }

    /// Takes a new topology over if it differs.
    pub(super) fn adopt(&self, topology: Topology) {
        if !self.topology.load().same_slots(&topology) {
            self.env.stats.topology_changes.count();
            self.topology.store(Arc::new(topology));
            self.pubsub.topology_changed();
        }
    }

    pub(super) fn close(&self) {
        self.env.tasks.close();
        for node in self.topology.load().nodes() {
            node.close();
        }
    }

    pub(super) fn seeds(&self) -> Vec<Address> {
        bootstrap::seeds(&self.env)
    }
}
