//! What went through a proxy.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// What a [`FaultProxy`](super::FaultProxy) has seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections accepted.
    pub accepted: u64,
    /// Connections open now.
    pub open: u64,
    /// Requests forwarded.
    pub requests: u64,
    /// Replies forwarded, with confirmations of subscriptions.
    pub replies: u64,
    /// Other pushes forwarded: pub/sub messages and the like.
    pub pushes: u64,
    /// Pub/sub messages swallowed.
    pub dropped_pushes: u64,
    /// Connections cut by a rule about a request.
    pub cuts: u64,
    /// Requests kept back, delivered since or not.
    pub kept: u64,
}

/// The same, being counted.
#[derive(Debug, Default)]
pub(crate) struct Count {
    pub(crate) accepted: AtomicU64,
    pub(crate) open: Arc<()>,
    pub(crate) requests: AtomicU64,
    pub(crate) replies: AtomicU64,
    pub(crate) pushes: AtomicU64,
    pub(crate) dropped_pushes: AtomicU64,
    pub(crate) cuts: AtomicU64,
    pub(crate) kept: AtomicU64,
}

impl Count {
    /// Counts a connection as open for as long as the value lives.
    pub(crate) fn open(&self) -> Arc<()> {
        Arc::clone(&self.open)
    }

    pub(crate) fn read(&self) -> Counters {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counters {
            accepted: read(&self.accepted),
            open: Arc::strong_count(&self.open) as u64 - 1,
            requests: read(&self.requests),
            replies: read(&self.replies),
            pushes: read(&self.pushes),
            dropped_pushes: read(&self.dropped_pushes),
            cuts: read(&self.cuts),
            kept: read(&self.kept),
        }
    }
}

pub(crate) fn increment(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}
