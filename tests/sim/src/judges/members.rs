//! Servers of a quorum: a lock is what a majority of them has.

use super::Judges;
use crate::engine::Engine;
use crate::server::NodeId;

/// Servers that answer, if only that they cannot.
pub(super) fn up(engine: &Engine) -> Vec<NodeId> {
    engine.fleet(|fleet| {
        let up = |node: &NodeId| fleet.is_alive(*node) && !fleet.is_asleep(*node);
        fleet.nodes().filter(up).collect()
    })
}

impl Judges {
    pub(super) fn is_quorum(&self) -> bool {
        self.members > 0
    }

    pub(super) fn majority(&self) -> usize {
        self.members / 2 + 1
    }

    /// A request about a lock was carried out at one of them.
    pub(super) fn look_at_member(&self, engine: &Engine, lock: usize, node: NodeId) {
        self.homes[lock].look_at(engine, node, |record| {
            let Some(record) = record else { return };
            self.look_at_expiry(engine, lock, node, &record);
            let mut traffic = self.traffic.borrow_mut();
            traffic.note_record(engine.now(), lock, &record);
        });
    }

    /// All clients have been shut down, and all leases have ended.
    pub(crate) fn look_for_holds(&self, engine: &Engine) {
        for (lock, home) in self.homes.iter().enumerate() {
            for node in up(engine) {
                home.look_at(engine, node, |record| {
                    let Some(record) = record else { return };
                    let mut holds = record.holds.iter();
                    if let Some((id, _)) = holds.find(|(_, hold)| hold.until > record.now) {
                        let story = format!("{id} still has lock {lock} at n{}", node.0);
                        self.object("leftovers", engine.now(), story);
                    }
                });
            }
        }
    }
}
