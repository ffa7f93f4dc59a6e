//! Time that moves when a test says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dlock::__internals::ServerClock;

/// The year 2100: what a script lets expire at a time of the test's clock, the server itself keeps
/// until long after the test.
const START: u64 = 4_102_444_800_000_000;

/// The clock of a memory store under test. Clones show the same time.
#[derive(Debug, Clone)]
pub struct TestClock(Arc<AtomicU64>);

impl Default for TestClock {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(START)))
    }
}

impl TestClock {
    /// Sets the time, in microseconds since the epoch.
    pub fn set(&self, micros: u64) {
        self.0.store(micros, Ordering::Relaxed);
    }
}

impl ServerClock for TestClock {
    fn micros(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
