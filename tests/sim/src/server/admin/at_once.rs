//! Slots that move in one step (`CLUSTER MIGRATESLOTS`, `CLUSTER MIGRATION IMPORT`). Before the hand-over the source lets no
//! client write for a while, on any slot.

use std::time::Duration;

use super::Migration;
use crate::server::fleet::{Fleet, NodeId};

impl Fleet {
    /// A server lets no client write from now on: their requests wait.
    pub fn pause_writes(&mut self, node: NodeId) {
        self.nodes[node.0].paused = true;
    }

    /// It serves what has waited.
    pub fn end_pause(&mut self, now: Duration, node: NodeId) {
        let node = self.at(now, node);
        if std::mem::take(&mut node.paused) && node.is_awake() {
            node.serve_all();
        }
    }

    /// A slot goes to another master with all its keys, in one step; `None` if one of the two does not run as a master.
    pub fn move_at_once(&mut self, now: Duration, slot: u16, to: NodeId) -> Option<Migration> {
        let migration = self.migrate_begin(now, slot, to)?;
        self.migrate_finish(now, &migration);
        self.migrate_tell(now, &migration);
        Some(migration)
    }
}
