//! An acquire that is not finished yet.

use std::time::Duration;

use crate::client::Inner;
use crate::key::LockKey;
use crate::protocol::HoldId;
use crate::releaser::Pending;

/// Undoes a half-done acquire unless settled: whether the request was queued, granted or never
/// arrived, the server is told to forget it.
#[derive(Debug)]
#[must_use = "dropping the attempt abandons the acquire"]
pub(super) struct Attempt<'a> {
    inner: &'a Inner,
    key: &'a LockKey,
    pub(super) id: HoldId,
    lease: Duration,
    pending: Option<Pending>,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(inner: &'a Inner, key: &'a LockKey, lease: Duration) -> Self {
        Self {
            inner,
            key,
            id: inner.next_hold(),
            lease,
            pending: Some(inner.releaser.begin()),
        }
    }

    /// The outcome is known and needs no undoing. A shutdown waits for what is returned.
    pub(super) fn settle(mut self) -> Option<Pending> {
        self.pending.take()
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.inner
                .releaser
                .abandon(self.key.clone(), self.id.clone(), self.lease, pending);
        }
    }
}
