//! Slots that move from one master to another, step by step, or do not after all.

use std::time::Duration;

use super::Migration;
use crate::server::cluster::slot_of;
use crate::server::fleet::{Fleet, NodeId};

impl Fleet {
    /// Marks a slot as importing at `to` and migrating at its master: keys that are not there any more are asked for
    /// at `to`. `None` if `to` is its master already, or one of the two does not run as a master.
    pub fn migrate_begin(&mut self, now: Duration, slot: u16, to: NodeId) -> Option<Migration> {
        let from = self.owner(slot);
        if from == to || !self.serves(from) || !self.serves(to) {
            return None;
        }
        self.at(now, to)
            .cluster
            .as_mut()?
            .importing
            .insert(slot, from);
        self.at(now, from)
            .cluster
            .as_mut()?
            .migrating
            .insert(slot, to);
        Some(Migration { slot, from, to })
    }

    /// Whether a server runs, as a master of a cluster.
    fn serves(&self, node: NodeId) -> bool {
        let node = &self.nodes[node.0];
        node.is_awake() && node.cluster.is_some() && !node.is_replica()
    }

    /// Moves up to `most` keys; returns how many are left.
    pub fn migrate_keys(&mut self, now: Duration, migration: &Migration, most: usize) -> usize {
        self.carry(now, migration.slot, migration.from, migration.to, most)
    }

    /// Moves the remaining keys, then the new owner takes the slot in a new epoch, which the others hear of by links.
    pub fn migrate_finish(&mut self, now: Duration, migration: &Migration) {
        let Migration { slot, from, to } = *migration;
        self.carry(now, slot, from, to, usize::MAX);
        if !self.serves(to) {
            return;
        }
        let node = self.at(now, to);
        if let Some(view) = node.cluster.as_mut()
            && view.importing.remove(&slot).is_some()
        {
            view.owners.set(slot, slot, to);
            view.unclaimed.remove(&slot);
            view.bump();
            node.greet();
        }
    }

    /// Has the new owner take the slot once more.
    pub fn migrate_again(&mut self, now: Duration, migration: &Migration) {
        if let Some(view) = self.at(now, migration.to).cluster.as_mut() {
            view.importing.insert(migration.slot, migration.from);
        }
        self.migrate_finish(now, migration);
    }

    /// Tells the old owner directly that the slot is no longer its own (otherwise it hears by the bus). It refuses
    /// while it has keys of the slot.
    pub fn migrate_tell(&mut self, now: Duration, migration: &Migration) {
        let Migration { slot, from, to } = *migration;
        if !self.serves(from) || self.keys_in(from, slot).next().is_some() {
            return;
        }
        let node = self.at(now, from);
        let Some(view) = node.cluster.as_mut() else {
            return;
        };
        view.migrating.remove(&slot);
        view.owners.set(slot, slot, to);
        let left = view.owners.has(from);
        node.silence_slots(|other| other == slot);
        if !left {
            node.become_replica_of(to);
        }
    }

    /// Calls a migration off at the old owner, which sends no client to the other server from now on.
    pub fn migrate_call_off(&mut self, now: Duration, migration: &Migration) {
        self.close_slot(now, migration.from, migration.slot);
    }

    /// Moves up to `most` keys back after that; returns how many are left.
    pub fn migrate_back(&mut self, now: Duration, migration: &Migration, most: usize) -> usize {
        self.carry(now, migration.slot, migration.to, migration.from, most)
    }

    /// Ends the importing at the target after that.
    pub fn migrate_forget(&mut self, now: Duration, migration: &Migration) {
        self.close_slot(now, migration.to, migration.slot);
    }

    /// Ends the importing and migrating wherever there is some, as a successor may have been told of it.
    pub fn migrate_abandon(&mut self, now: Duration, migration: &Migration) {
        for node in self.nodes() {
            self.close_slot(now, node, migration.slot);
        }
    }

    /// `CLUSTER SETSLOT … STABLE`.
    fn close_slot(&mut self, now: Duration, node: NodeId, slot: u16) {
        if !self.nodes[node.0].is_awake() {
            return;
        }
        if let Some(view) = self.at(now, node).cluster.as_mut() {
            view.migrating.remove(&slot);
            view.importing.remove(&slot);
        }
    }

    fn keys_in(&self, node: NodeId, slot: u16) -> impl Iterator<Item = &Vec<u8>> {
        let data = &self.nodes[node.0].data;
        data.iter()
            .map(|(key, _)| key)
            .filter(move |key| slot_of(key) == slot)
    }

    fn carry(&mut self, now: Duration, slot: u16, from: NodeId, to: NodeId, most: usize) -> usize {
        let keys: Vec<Vec<u8>> = self.keys_in(from, slot).cloned().collect();
        let gone = keys
            .iter()
            .take(most)
            .filter(|key| self.migrate_key(now, from, to, key))
            .count();
        keys.len() - gone
    }

    /// `MIGRATE`: a key goes from one server to another, unless that has one of the name, or no memory. Whether it is
    /// no longer where it was.
    pub fn migrate_key(&mut self, now: Duration, from: NodeId, to: NodeId, key: &[u8]) -> bool {
        if !self.serves(from) || !self.serves(to) {
            return false;
        }
        let source = self.at(now, from);
        let sent_at = source.millis();
        let Some(mut entry) = source.look_up(key).cloned() else {
            source.replicate();
            return true;
        };
        let target = self.at(now, to);
        // The message has the key's time to live, which the other server counts by its own clock.
        let arrives_at = target.millis();
        entry.expires = entry
            .expires
            .map(|at| arrives_at + at.saturating_sub(sent_at).max(1));
        if target.full || target.look_up(key).is_some() {
            target.replicate();
            return false;
        }
        target.put(key, entry);
        target.replicate();
        let source = self.at(now, from);
        source.drop_key(key);
        source.replicate();
        true
    }
}
