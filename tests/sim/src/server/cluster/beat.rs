//! What servers tell each other about the cluster, and what they make of it.

use std::sync::Arc;

use super::ranges::pieces;
use super::view::View;
use crate::server::fleet::NodeId;
use crate::server::link::LinkItem;
use crate::server::node::Node;

/// A heartbeat, or news about another server that the receiver has missed.
#[derive(Debug, Clone)]
pub(in super::super) struct Beat {
    /// The node that it is about: mostly the sender.
    about: NodeId,
    replica_of: Option<NodeId>,
    /// The epoch of what that one serves.
    epoch: u64,
    /// The latest epoch the sender has heard of.
    latest: u64,
    claims: Vec<(u16, u16)>,
    /// The nodes that the sender has not heard of for long.
    suspects: Vec<NodeId>,
}

impl View {
    /// What a server serves, without what it has said is not its own, or has given up.
    fn claims_of(&self, about: NodeId) -> Vec<(u16, u16)> {
        let claims = self.owners.of(about);
        let without = if about == self.me {
            &self.unserved
        } else {
            &self.unclaimed
        };
        if without.is_empty() {
            return claims;
        }
        let pieces = |(first, last)| pieces(first, last, without);
        claims.into_iter().flat_map(pieces).collect()
    }

    fn beat(&self, about: NodeId) -> Beat {
        let suspects = self
            .others()
            .filter(|node| self.peer(*node).suspect)
            .collect();
        Beat {
            about,
            replica_of: self.peer(about).replica_of,
            epoch: self.peer(about).epoch,
            latest: self.epoch,
            claims: self.claims_of(about),
            suspects,
        }
    }
}

impl Node {
    /// Tells all others what this server is and serves.
    pub(in super::super) fn greet(&mut self) {
        let Some(view) = &self.cluster else {
            return;
        };
        let beat = Arc::new(view.beat(self.id));
        for other in view.others() {
            self.send(other, LinkItem::Heartbeat(Arc::clone(&beat)));
        }
    }

    pub(in super::super) fn hear_beat(&mut self, from: NodeId, beat: &Beat) {
        let now = self.now;
        let me = self.id;
        let Some(view) = self.cluster.as_mut() else {
            return;
        };
        view.epoch = view.epoch.max(beat.latest).max(beat.epoch);
        view.hear_of(from, beat, now);
        if beat.about == me {
            return;
        }
        let stale = beat.epoch < view.peer(beat.about).epoch;
        if from == beat.about && !stale {
            view.nodes[from.0].replica_of = beat.replica_of;
        }
        if beat.replica_of.is_none() && !stale {
            view.nodes[beat.about.0].epoch = beat.epoch;
            // Two with one epoch: the later one of them takes another.
            let mine = view.peer(me);
            if from == beat.about
                && mine.replica_of.is_none()
                && mine.epoch == beat.epoch
                && from < me
            {
                view.bump();
            }
            self.hear_claims(beat.about, beat.epoch, &beat.claims);
        }
        self.correct(from, beat);
        self.update_state();
    }

    /// Tells a sender who claims what another has taken since.
    fn correct(&mut self, from: NodeId, beat: &Beat) {
        let Some(view) = &self.cluster else {
            return;
        };
        if from != beat.about || beat.replica_of.is_some() {
            return;
        }
        let overlaps =
            |first: u16, last: u16| beat.claims.iter().any(|c| c.0 <= last && first <= c.1);
        let newer = view.owners.iter().find(|(first, last, owner)| {
            *owner != from && view.peer(*owner).epoch > beat.epoch && overlaps(*first, *last)
        });
        if let Some((_, _, owner)) = newer {
            let news = Arc::new(view.beat(owner));
            self.send(from, LinkItem::Heartbeat(news));
        }
    }
}

impl View {
    fn hear_of(&mut self, from: NodeId, beat: &Beat, now: std::time::Duration) {
        let peer = &mut self.nodes[from.0];
        peer.heard = now;
        peer.suspect = false;
        peer.failed = false;
        let is_master = self.peer(from).replica_of.is_none() && self.owners.has(from);
        for (number, peer) in self.nodes.iter_mut().enumerate() {
            if is_master && beat.suspects.contains(&NodeId(number)) {
                peer.reports.insert(from, now);
            } else {
                peer.reports.remove(&from);
            }
        }
    }
}
