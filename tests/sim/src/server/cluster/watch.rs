//! The nodes that a server takes for dead, and whether the cluster can serve.

use std::time::Duration;

use super::view::View;
use crate::server::fleet::NodeId;
use crate::server::node::Node;

/// How long a master that was cut off waits for news before it serves again.
const REJOIN: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

impl Node {
    /// Looks for nodes that it has not heard of for too long.
    pub(in super::super) fn watch_others(&mut self) {
        let (now, timeout) = (self.now, self.config.node_timeout);
        if let Some(view) = self.cluster.as_mut() {
            view.suspect(now, timeout);
        }
        self.update_state();
    }

    /// Whether the cluster can serve, as far as this server knows.
    pub(in super::super) fn update_state(&mut self) {
        let (now, config) = (self.now, &self.config);
        let Some(view) = self.cluster.as_mut() else {
            return;
        };
        let is_master = view.peer(view.me).replica_of.is_none();
        if view.lacks_quorum() {
            view.down = true;
            let rejoin = config.node_timeout.clamp(REJOIN.0, REJOIN.1);
            view.down_until = view.down_until.max(now + rejoin);
        } else if config.full_coverage && view.has_gaps() {
            view.down = true;
        } else if !is_master || now >= view.down_until {
            view.down = false;
        }
    }
}

impl View {
    fn suspect(&mut self, now: Duration, timeout: Duration) {
        let others: Vec<NodeId> = self.others().collect();
        let masters: Vec<NodeId> = (0..self.nodes.len())
            .map(NodeId)
            .filter(|node| self.votes(*node))
            .collect();
        let me = self.me;
        for other in others {
            let peer = &mut self.nodes[other.0];
            peer.suspect = now.saturating_sub(peer.heard) > timeout;
            peer.reports
                .retain(|_, at| now.saturating_sub(*at) <= timeout * 2);
            if peer.suspect {
                let reports = masters
                    .iter()
                    .filter(|m| **m == me || peer.reports.contains_key(*m));
                peer.failed |= reports.count() > masters.len() / 2;
            }
        }
    }

    fn votes(&self, node: NodeId) -> bool {
        self.peer(node).replica_of.is_none() && self.owners.has(node)
    }

    fn lacks_quorum(&self) -> bool {
        let masters: Vec<NodeId> = (0..self.nodes.len())
            .map(NodeId)
            .filter(|node| self.votes(*node))
            .collect();
        let reachable = masters.iter().filter(|m| {
            let peer = self.peer(**m);
            !peer.suspect && !peer.failed
        });
        reachable.count() < masters.len() / 2 + 1
    }

    fn has_gaps(&self) -> bool {
        let is_failed = |owner| self.peer(owner).failed;
        !self.unserved.is_empty() || self.owners.iter().any(|(_, _, owner)| is_failed(owner))
    }
}
