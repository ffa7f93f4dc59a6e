//! A server hold that tasks of one process share or hand on.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use super::hold::Hold;
use crate::clock::BootInstant;

/// For how long and how often a hold is passed on locally before the server is asked whether
/// another process waits.
const SLICE: Duration = Duration::from_millis(5);
const SLICE_COUNT: u32 = 4096;

/// One hold and how many local guards stand on it. The counters change under the gate's lock only.
pub(super) struct SharedHold {
    pub(super) hold: Arc<Hold>,
    /// Whether the gate knows it; holds of explicit owners stand alone.
    pub(super) gated: bool,
    users: AtomicU32,
    slice_started: AtomicU64,
    passed_on: AtomicU32,
    passed_on_at: AtomicU64,
}

impl SharedHold {
    /// A hold with one user.
    pub(super) fn new(hold: Arc<Hold>, gated: bool) -> Arc<Self> {
        Arc::new(Self {
            gated,
            users: AtomicU32::new(1),
            slice_started: AtomicU64::new(hold.granted_at.as_nanos()),
            passed_on: AtomicU32::new(0),
            passed_on_at: AtomicU64::new(0),
            hold,
        })
    }

    pub(super) fn add_user(&self) {
        self.users.fetch_add(1, Ordering::Relaxed);
        self.passed_on.fetch_add(1, Ordering::Relaxed);
    }

    /// The last user left and the next one takes over.
    pub(super) fn pass_on(&self, now: BootInstant) {
        self.passed_on_at.store(now.as_nanos(), Ordering::Relaxed);
    }

    pub(super) fn passed_on_at(&self) -> BootInstant {
        BootInstant::from_nanos(self.passed_on_at.load(Ordering::Relaxed))
    }

    /// Whether that was the last one.
    pub(super) fn remove_user(&self) -> bool {
        self.users.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// The server said to carry on.
    pub(super) fn start_slice(&self) {
        self.slice_started
            .store(BootInstant::now().as_nanos(), Ordering::Relaxed);
        self.passed_on.store(0, Ordering::Relaxed);
    }

    pub(super) fn slice_is_open(&self) -> bool {
        let started = BootInstant::from_nanos(self.slice_started.load(Ordering::Relaxed));
        self.passed_on.load(Ordering::Relaxed) < SLICE_COUNT
            && BootInstant::now().since(started) < SLICE
    }

    pub(super) fn is_healthy(&self) -> bool {
        self.hold.is_healthy()
    }
}

impl fmt::Debug for SharedHold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedHold")
            .field("hold", &self.hold)
            .field("users", &self.users)
            .finish_non_exhaustive()
    }
}
