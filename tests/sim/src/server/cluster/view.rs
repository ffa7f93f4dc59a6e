//! What one server believes about the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::ranges::{Ranges, pieces};
use crate::server::fleet::NodeId;

/// How long a master that has started again serves no client (`CLUSTER_WRITABLE_DELAY`).
const START: Duration = Duration::from_secs(2);

/// One server's beliefs.
#[derive(Debug, Clone)]
pub(in super::super) struct View {
    pub(in super::super) me: NodeId,
    pub(in super::super) owners: Ranges,
    /// Slots whose owner has said that they are not its own.
    pub(in super::super) unclaimed: BTreeSet<u16>,
    /// The slots of its own that it was told to give up.
    pub(in super::super) unserved: BTreeSet<u16>,
    /// The latest epoch it has heard of.
    pub(in super::super) epoch: u64,
    pub(in super::super) nodes: Vec<Peer>,
    /// Slots on their way from here, and where to.
    pub(in super::super) migrating: BTreeMap<u16, NodeId>,
    /// Slots on their way here, and where from.
    pub(in super::super) importing: BTreeMap<u16, NodeId>,
    /// Whether it refuses what needs the cluster.
    pub(in super::super) down: bool,
    /// Until when it stays down although it could serve.
    pub(in super::super) down_until: Duration,
}

/// Another server, or this one.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Peer {
    /// The epoch in which it took what it serves.
    pub(in super::super) epoch: u64,
    pub(in super::super) replica_of: Option<NodeId>,
    pub(in super::super) heard: Duration,
    /// Whether this server has not heard of it for too long.
    pub(in super::super) suspect: bool,
    /// Whether most masters have not.
    pub(in super::super) failed: bool,
    /// Which others have said lately that they suspect it.
    pub(in super::super) reports: BTreeMap<NodeId, Duration>,
}

impl View {
    /// At the start: masters first, then their replicas in turn.
    pub(in super::super) fn new(me: NodeId, masters: usize, count: usize) -> Self {
        let peer = |number: usize| Peer {
            epoch: if number < masters {
                number as u64 + 1
            } else {
                0
            },
            replica_of: (number >= masters).then(|| NodeId(number % masters)),
            ..Peer::default()
        };
        Self {
            me,
            owners: Ranges::even(masters),
            unclaimed: BTreeSet::new(),
            unserved: BTreeSet::new(),
            epoch: masters as u64,
            nodes: (0..count).map(peer).collect(),
            migrating: BTreeMap::new(),
            importing: BTreeMap::new(),
            down: false,
            down_until: Duration::ZERO,
        }
    }

    pub(in super::super) fn peer(&self, node: NodeId) -> &Peer {
        &self.nodes[node.0]
    }

    /// This server's master, or itself.
    pub(in super::super) fn my_master(&self) -> NodeId {
        self.peer(self.me).replica_of.unwrap_or(self.me)
    }

    /// The master of a server's shard, as far as known here.
    pub(in super::super) fn master_of(&self, node: NodeId) -> NodeId {
        self.peer(node).replica_of.unwrap_or(node)
    }

    /// The ranges of slots that are served, and their nodes.
    pub(in super::super) fn served(&self) -> Vec<(u16, u16, NodeId)> {
        let ranges = self.owners.iter();
        let served = ranges.flat_map(|(first, last, owner)| {
            let pieces = pieces(first, last, &self.unserved).into_iter();
            pieces.map(move |(first, last)| (first, last, owner))
        });
        served.collect()
    }

    pub(in super::super) fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        let me = self.me;
        (0..self.nodes.len())
            .map(NodeId)
            .filter(move |node| *node != me)
    }

    /// The others of this server's shard.
    pub(in super::super) fn shard(&self) -> Vec<NodeId> {
        let master = self.my_master();
        self.others()
            .filter(|node| self.master_of(*node) == master)
            .collect()
    }

    /// Takes a new epoch for what this server serves.
    pub(in super::super) fn bump(&mut self) {
        let latest = self.nodes.iter().map(|peer| peer.epoch).max().unwrap_or(0);
        self.epoch = self.epoch.max(latest) + 1;
        self.nodes[self.me.0].epoch = self.epoch;
    }

    /// The process has started again: what it knew was in its file; open slots are there, too.
    pub(in super::super) fn restarted(&mut self, now: Duration) {
        for peer in &mut self.nodes {
            peer.heard = now;
            peer.suspect = false;
            peer.failed = false;
            peer.reports.clear();
        }
        if self.peer(self.me).replica_of.is_none() {
            self.down = true;
            self.down_until = now + START;
        }
    }
}
