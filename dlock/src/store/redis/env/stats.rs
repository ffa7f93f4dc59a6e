//! What happened on the way to the servers, counted.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::metrics::{Redirect, redirected, topology_changed};

/// Counters of one store; they only grow.
#[derive(Debug)]
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
    /// Requests without an answer: an I/O error or a timeout.
    pub unanswered: Counter,
    /// Connections opened after the first one of a node.
    pub reconnects: Counter,
    /// Changes of the slot map.
    pub topology_changes: Counter,
    /// Channels subscribed again after their connection or their slot was lost.
    pub resubscribed: Counter,
}

impl Default for RedisStats {
    fn default() -> Self {
        Self {
            moved: Counter::reporting(|| redirected(Redirect::Moved)),
            asked: Counter::reporting(|| redirected(Redirect::Ask)),
            deferred: Counter::reporting(|| redirected(Redirect::Later)),
            read_only: Counter::reporting(|| redirected(Redirect::ReadOnly)),
            no_script: Counter::reporting(|| redirected(Redirect::NoScript)),
            unanswered: Counter::reporting(|| redirected(Redirect::Unanswered)),
            reconnects: Counter::default(),
            topology_changes: Counter::reporting(topology_changed),
            resubscribed: Counter::default(),
        }
    }
}

/// A number that only grows.
#[derive(Default)]
pub struct Counter {
    count: AtomicU64,
    /// Tells the metrics, which count for all stores of the process.
    report: Option<fn()>,
}

impl Counter {
    /// The count so far.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    fn reporting(report: fn()) -> Self {
        Self {
            count: AtomicU64::new(0),
            report: Some(report),
        }
    }

    pub(crate) fn count(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
        if let Some(report) = self.report {
            report();
        }
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
