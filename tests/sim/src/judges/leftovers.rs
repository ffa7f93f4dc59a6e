//! What must not be left behind: keys that never expire, at any time; and in the end keys, subscriptions and tasks at all.

use super::Judges;
use super::record::Record;
use crate::engine::{Engine, ProcId};
use crate::server::NodeId;

impl Judges {
    /// After a request about a lock, whose record a server has.
    pub(super) fn look_at_expiry(
        &self,
        engine: &Engine,
        lock: usize,
        node: NodeId,
        record: &Record<'_>,
    ) {
        // A script writes the record before the expiry; who asked is not answered.
        if self.excuses.borrow().is_cut_short(node) {
            return;
        }
        self.look_at_key(engine, lock, record);
        if !record.expires {
            let story = format!("lock {lock} never expires at n{}", node.0);
            self.object("leftovers", engine.now(), story);
        }
    }

    /// All clients have been shut down.
    pub(crate) fn look_at_tasks(&self, engine: &Engine, of: ProcId) {
        let left = engine.tasks_of(of);
        if left > 0 {
            let story = format!("p{} was shut down and has {left} tasks", of.0);
            self.object("leftovers", engine.now(), story);
        }
    }

    /// And the servers have had time to notice.
    pub(crate) fn look_at_subscriptions(&self, engine: &Engine) {
        for node in engine.fleet(|fleet| fleet.nodes().collect::<Vec<_>>()) {
            let left = engine.fleet(|fleet| {
                if fleet.is_alive(node) {
                    fleet.subscriptions(node)
                } else {
                    Vec::new()
                }
            });
            let orphan = |conn| engine.is_orphan(conn);
            if let Some(one) = left.iter().find(|one| !orphan(one.conn)) {
                let channel = String::from_utf8_lossy(&one.channel).into_owned();
                let story = format!("n{} still sends to {channel}", node.0);
                self.object("leftovers", engine.now(), story);
            }
        }
    }

    /// And all leases have ended.
    pub(crate) fn look_at_keys(&self, engine: &Engine) {
        for node in engine.fleet(|fleet| fleet.nodes().collect::<Vec<_>>()) {
            if engine.fleet(|fleet| !fleet.is_alive(node)) {
                continue;
            }
            let now = engine.time();
            let mut keys = engine.fleet(|fleet| fleet.keys(now, node));
            if self.excuses.borrow().is_cut_short(node) {
                keys.clear();
            }
            if let Some(key) = keys.first() {
                let key = String::from_utf8_lossy(key).into_owned();
                let story = format!("{key} is still at n{}", node.0);
                self.object("leftovers", engine.now(), story);
            }
        }
    }
}
