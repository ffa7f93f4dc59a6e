//! Counting what is not settled yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// How many acquires and releases are under way.
#[derive(Debug, Default)]
pub(super) struct Tally {
    count: AtomicUsize,
    settled: Notify,
}

impl Tally {
    /// Completes when nothing is under way.
    pub(super) async fn zero(&self) {
        loop {
            let settled = self.settled.notified();
            if self.count.load(Ordering::Acquire) == 0 {
                return;
            }
            settled.await;
        }
    }
}

/// One thing under way, until dropped.
#[derive(Debug)]
#[must_use = "dropping it settles it"]
pub(crate) struct Pending(Arc<Tally>);

impl Pending {
    pub(super) fn new(tally: &Arc<Tally>) -> Self {
        tally.count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(tally))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.settled.notify_waiters();
        }
    }
}
