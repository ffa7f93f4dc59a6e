//! Data that go, memory that is full, replicas that are missing, scripts that fail.

use std::time::Duration;

use super::FailKind;
use crate::server::fleet::{Fleet, NodeId};

impl Fleet {
    /// All keys of a master go.
    pub fn flushall(&mut self, now: Duration, node: NodeId) {
        let node = self.at(now, node);
        if node.is_awake() && !node.is_replica() {
            node.flush();
            node.replicate();
        }
    }

    /// A key is evicted; whether it was there.
    pub fn evict(&mut self, now: Duration, node: NodeId, key: &[u8]) -> bool {
        let node = self.at(now, node);
        let was = node.is_awake() && !node.is_replica() && node.drop_key(key);
        node.replicate();
        was
    }

    /// Whether a server is over its `maxmemory`, with `noeviction`.
    pub fn set_full(&mut self, node: NodeId, full: bool) {
        self.nodes[node.0].full = full;
    }

    /// How many good replicas a master wants before it writes (`min-replicas-to-write`): those that have said within
    /// the last ten seconds that they follow.
    pub fn set_min_replicas(&mut self, node: NodeId, replicas: usize) {
        self.nodes[node.0].min_replicas = replicas;
    }

    /// Whether a server is loading its data, and refuses nearly everything meanwhile.
    pub fn set_loading(&mut self, node: NodeId, loading: bool) {
        self.nodes[node.0].loading = loading;
    }

    /// The next script that comes to an `n`th call (from 1) at this server fails there.
    pub fn fail_script_at_call(&mut self, node: NodeId, n: usize, how: FailKind) {
        self.nodes[node.0].failure = Some((n, how));
    }

    /// Whether a failure that was ordered has not happened yet; takes it back.
    pub fn clear_script_failure(&mut self, node: NodeId) -> bool {
        self.nodes[node.0].failure.take().is_some()
    }

    /// A server forgets its scripts.
    pub fn script_flush(&mut self, node: NodeId) {
        self.nodes[node.0].scripts.clear();
    }
}
