//! Slots that change their nodes: `clusterUpdateSlotsConfigWith` of each version.

use super::slot::slot_of;
use super::view::View;
use crate::server::config::Flavour;
use crate::server::fleet::NodeId;
use crate::server::node::Node;

/// What came of a master's claims.
#[derive(Debug, Default)]
struct Outcome {
    /// Slots that have another owner now.
    moved: Vec<u16>,
    /// The slots among them that were this server's own.
    lost: Vec<u16>,
    /// Whether slots of this server's shard went to the sender.
    ours: bool,
    /// Whether this server has taken a slot that it was importing.
    took: bool,
}

impl Node {
    /// A master says, or another says of it, what it serves since which epoch.
    pub(super) fn hear_claims(&mut self, sender: NodeId, epoch: u64, claims: &[(u16, u16)]) {
        let flavour = self.flavour;
        let Some(view) = self.cluster.as_mut() else {
            return;
        };
        let master = view.my_master();
        let outcome = view.settle(flavour, sender, epoch, claims);
        let lost_all = outcome.ours && !view.owners.has(master);
        if outcome.took {
            view.bump();
        }
        if !outcome.moved.is_empty() {
            self.silence_slots(|slot| outcome.moved.binary_search(&slot).is_ok());
        }
        if lost_all {
            self.become_replica_of(sender);
        } else if !outcome.lost.is_empty() {
            self.clear_slots(&outcome.lost);
        }
        if outcome.took {
            self.greet();
        }
    }

    pub(in super::super) fn become_replica_of(&mut self, master: NodeId) {
        let flavour = self.flavour;
        let Some(view) = self.cluster.as_mut() else {
            return;
        };
        let me = view.me;
        let stays = flavour == Flavour::Valkey81 && view.my_master() != me;
        if !stays {
            view.migrating.clear();
            view.importing.clear();
        }
        view.nodes[me.0].replica_of = Some(master);
        let owners = view.owners.clone();
        if flavour >= Flavour::Redis80 {
            self.silence_slots(|slot| owners.owner(slot) != master);
        }
        self.follow(master);
    }

    /// Removes the keys of slots that are no longer this server's.
    fn clear_slots(&mut self, slots: &[u16]) {
        let is_lost = |key: &&Vec<u8>| slots.binary_search(&slot_of(key)).is_ok();
        let keys: Vec<_> = self
            .data
            .iter()
            .map(|(key, _)| key)
            .filter(is_lost)
            .cloned()
            .collect();
        for key in keys {
            self.drop_key(&key);
        }
        self.replicate();
    }
}

impl View {
    fn settle(
        &mut self,
        flavour: Flavour,
        sender: NodeId,
        epoch: u64,
        claims: &[(u16, u16)],
    ) -> Outcome {
        let master = self.my_master();
        let valkey = flavour == Flavour::Valkey81;
        let mut outcome = Outcome::default();
        if self.owners.of(sender) == claims {
            if !self.unclaimed.is_empty() {
                let owners = &self.owners;
                self.unclaimed.retain(|slot| owners.owner(*slot) != sender);
            }
            self.note_unclaimed(flavour, sender, claims, &mut outcome);
            return outcome;
        }
        for slot in claims.iter().flat_map(|(first, last)| *first..=*last) {
            let owner = self.owners.owner(slot);
            if owner == sender {
                self.unclaimed.remove(&slot);
                continue;
            }
            if self.importing.contains_key(&slot) && !valkey {
                continue; // Only a command may decide.
            }
            let given_up = self.unserved.remove(&slot);
            let free = given_up || self.unclaimed.contains(&slot) && flavour != Flavour::Redis62;
            if !free && self.peer(owner).epoch >= epoch {
                continue;
            }
            if owner == self.me && !given_up {
                outcome.lost.push(slot);
            }
            outcome.ours |= owner == master && !given_up;
            if valkey {
                self.follow_migration(slot, sender);
            }
            outcome.moved.push(slot);
            self.unclaimed.remove(&slot);
        }
        for run in outcome.moved.chunk_by(|a, b| a + 1 == *b) {
            self.owners.set(run[0], run[run.len() - 1], sender);
        }
        self.note_unclaimed(flavour, sender, claims, &mut outcome);
        outcome
    }

    /// Valkey: a slot changes hands while it moves.
    fn follow_migration(&mut self, slot: u16, sender: NodeId) {
        if self.migrating.contains_key(&slot)
            && self.master_of(sender) != self.my_master()
            && !self.is_in_my_shard(sender)
        {
            self.migrating.remove(&slot);
        }
        if let Some(source) = self.importing.get(&slot).copied()
            && source != sender
        {
            if self.master_of(source) == sender || self.master_of(sender) == source {
                self.importing.insert(slot, sender);
            } else {
                self.importing.remove(&slot);
            }
        }
    }

    fn is_in_my_shard(&self, node: NodeId) -> bool {
        self.peer(self.me).replica_of == Some(node) || self.peer(node).replica_of == Some(self.me)
    }

    /// What the sender no longer claims.
    fn note_unclaimed(
        &mut self,
        flavour: Flavour,
        sender: NodeId,
        claims: &[(u16, u16)],
        outcome: &mut Outcome,
    ) {
        if flavour == Flavour::Redis62 {
            return;
        }
        let claimed = |slot: u16| {
            claims
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&slot))
        };
        for (first, last) in self.owners.of(sender) {
            if claims
                .iter()
                .any(|claim| claim.0 <= first && last <= claim.1)
            {
                continue;
            }
            self.unclaimed
                .extend((first..=last).filter(|slot| !claimed(*slot)));
        }
        if flavour != Flavour::Valkey81 || self.my_master() != self.me {
            return;
        }
        let given: Vec<u16> = self
            .importing
            .iter()
            .filter(|(slot, source)| **source == sender && !claimed(**slot))
            .map(|(slot, _)| *slot)
            .collect();
        for slot in given {
            self.importing.remove(&slot);
            if self.owners.owner(slot) != self.me {
                self.owners.set(slot, slot, self.me);
                self.unclaimed.remove(&slot);
                outcome.moved.push(slot);
                outcome.took = true;
            }
        }
    }
}
