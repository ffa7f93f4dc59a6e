//! What happened on the way to the servers, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one store; they only grow.
#[derive(Debug, Default)]
pub struct RedisStats {
    /// `MOVED` answers.
    pub moved: Counter,
    /// `ASK` answers.
    pub asked: Counter,
    /// `TRYAGAIN`, `CLUSTERDOWN`, `LOADING` and other answers that mean: later.
    pub deferred: Counter,
    /// `READONLY` answers.
    pub read_only: Counter,
    /// `NOSCRIPT` answers.
    pub no_script: Counter,
    /// Attempts without an answer: an I/O error or a timeout.
    pub unanswered: Counter,
    /// Connections opened after the first one of a node.
    pub reconnects: Counter,
    /// Changes of the slot map.
    pub topology_changes: Counter,
    /// Channels subscribed again after their connection or their slot was lost.
    pub resubscribed: Counter,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// The count so far.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
