//! Counting what is not settled yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// How many acquires and releases are under way.
#[derive(Debug, Default)]
pub(super) struct Tally {
    count: AtomicUsize,
    /// Whether anybody has waited for zero: until then nobody has to be told.
    awaited: AtomicBool,
    settled: Notify,
}

impl Tally {
    pub(super) fn is_zero(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    /// Completes when nothing is under way.
    pub(super) async fn zero(&self) {
        loop {
            let settled = self.settled.notified();
            // Set before the count is read, and read after it is written: one of the two sees the other.
            self.awaited.store(true, Ordering::SeqCst);
            if self.is_zero() {
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
        tally.count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(tally))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::SeqCst) == 1 && self.0.awaited.load(Ordering::SeqCst)
        {
            self.0.settled.notify_waiters();
        }
    }
}
