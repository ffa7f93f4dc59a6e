//! Slots that no node serves.

use std::time::Duration;

use crate::server::fleet::{Fleet, NodeId};

impl Fleet {
    /// A master gives up a slot of its own (`CLUSTER DELSLOTS`): no node serves it then. Keys stay. False if the slot is
    /// not its own.
    pub fn delete_slot(&mut self, now: Duration, node: NodeId, slot: u16) -> bool {
        let node = self.at(now, node);
        let Some(view) = node.cluster.as_mut() else {
            return false;
        };
        if view.owners.owner(slot) != view.me || !view.unserved.insert(slot) {
            return false;
        }
        node.silence_slots(|other| other == slot);
        node.update_state();
        true
    }

    /// It takes the slot again (`CLUSTER ADDSLOTS`).
    pub fn add_slot(&mut self, now: Duration, node: NodeId, slot: u16) {
        let node = self.at(now, node);
        if let Some(view) = node.cluster.as_mut() {
            view.unserved.remove(&slot);
        }
        node.update_state();
    }
}
