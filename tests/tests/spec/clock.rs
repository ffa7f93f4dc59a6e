//! Time that moves when a test says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dlock::__internals::ServerClock;

/// The year 2100: what a script lets expire at a time of the test's clock, the server itself keeps
/// until long after the test.
const START: u64 = 4_102_444_800_000_000;

#[derive(Debug, Clone)]
pub(crate) struct TestClock(Arc<AtomicU64>);

impl TestClock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(START)))
    }

    pub(crate) fn set(&self, micros: u64) {
        self.0.store(micros, Ordering::Relaxed);
    }
}

impl ServerClock for TestClock {
    fn micros(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
