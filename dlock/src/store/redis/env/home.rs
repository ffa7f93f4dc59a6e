//! The runtime that drives the connections of a store, and its background tasks.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use super::env::Env;
use crate::clock::{Instant, sleep};
use crate::tasks::{AbortHandle, JoinSet, Place};

/// For how long a runtime that stood still has to run well before connections return to it; twice as long after each
/// further time, up to a minute, so that one that is blocked now and then does not have them made anew all the time.
const REST: Duration = Duration::from_secs(1);
const DOUBLED: u32 = 6;

/// How often it is looked at meanwhile, and by how much later it may get to run: no stall for which it would be left goes
/// unseen.
const STEP: Duration = Duration::from_millis(50);
const LATE: Duration = Duration::from_millis(50);

/// The runtime on which the store was made, which saves each request two turns through another thread; and our own when
/// that has ended or while it stands still.
#[derive(Debug)]
pub(crate) struct Home {
    first: Place,
    left: AtomicBool,
    /// How often.
    leaves: AtomicU32,
}

impl Home {
    pub(super) fn here() -> Self {
        let first = Place::here();
        Self {
            left: AtomicBool::new(first.is_own()),
            leaves: AtomicU32::new(0),
            first,
        }
    }

    /// Where the next connection is driven.
    pub(crate) fn place(&self) -> Place {
        if !self.is_left() && !self.first.is_running() {
            // Connections do not return to a runtime that has ended.
            self.left.store(true, Ordering::Release);
        }
        if self.is_left() {
            Place::own()
        } else {
            self.first.clone()
        }
    }

    /// Whether connections are driven by our own runtime from now on.
    pub(crate) fn is_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }
}

impl Env {
    /// The first runtime has ended, or does not run what it should: until it has run well for a while.
    pub(crate) fn leave_home(self: &Arc<Self>) {
        if self.home.left.swap(true, Ordering::AcqRel) {
            return;
        }
        let before = self.home.leaves.fetch_add(1, Ordering::Relaxed);
        let rest = REST * (1 << before.min(DOUBLED));
        let returning = come_home(Arc::downgrade(self), rest);
        // It runs when the runtime does, and ends with it.
        self.home.first.spawn(returning);
    }
}

/// Runs on the first runtime.
async fn come_home(env: Weak<Env>, rest: Duration) {
    let mut well = Duration::ZERO;
    while well < rest {
        let before = Instant::now();
        sleep(STEP).await;
        if env.strong_count() == 0 {
            return;
        }
        let took = Instant::now() - before;
        well = if took < STEP + LATE {
            well + took
        } else {
            Duration::ZERO
        };
    }
    if let Some(env) = env.upgrade() {
        env.home.left.store(false, Ordering::Release);
        env.refresh.request();
    }
}

/// Tasks that end together, at the latest with this value.
pub(crate) struct Tasks(Mutex<Option<JoinSet<()>>>);

impl Tasks {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Some(JoinSet::new())))
    }

    /// Starts a task there; `None` once closed.
    pub(crate) fn spawn(
        &self,
        place: &Place,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Option<AbortHandle> {
        let mut set = self.0.lock();
        let set = set.as_mut()?;
        while set.try_join_next().is_some() {}
        Some(place.spawn_into(set, task))
    }

    /// Ends all tasks; no new ones start.
    pub(crate) fn close(&self) {
        let set = self.0.lock().take();
        // Outside of the lock: a task's own values are dropped here.
        drop(set);
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let running = self.0.lock().as_ref().map(JoinSet::len);
        f.debug_struct("Tasks").field("running", &running).finish()
    }
}
