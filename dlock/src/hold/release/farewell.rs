//! Seeing releases off: what a thread has left to the background is delivered before its runtime ends, or before it goes
//! on if it has none. Within a bound, and not again and again when that was in vain.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::pending::{Pending, Tally};
use crate::tasks::{Place, Whereabouts, wait_at_most, whereabouts};

/// How long the end of a runtime waits, and a thread that drops a guard.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);

/// What was queued by those who have not waited for it.
#[derive(Default)]
pub(super) struct Farewell {
    undelivered: Arc<Tally>,
    /// The runtimes that a task waits on.
    watched: Mutex<Vec<Place>>,
    /// Whether somebody has waited in vain since there was nothing to deliver.
    in_vain: AtomicBool,
}

impl Farewell {
    /// Something is queued: until the result is dropped.
    pub(super) fn queued(&self) -> Pending {
        if self.undelivered.is_zero() {
            self.in_vain.store(false, Ordering::Relaxed);
        }
        Pending::new(&self.undelivered)
    }

    /// What is queued is delivered before the runtime of this thread has ended; now, if there is none.
    pub(super) fn see_off(self: &Arc<Self>) {
        match whereabouts() {
            Whereabouts::Own => {}
            Whereabouts::Nowhere => self.wait(),
            Whereabouts::User(place) => {
                let mut watched = self.watched.lock();
                if !watched.iter().any(|watched| watched.is(&place)) {
                    watched.push(place.clone());
                    drop(watched);
                    let watch = Watch {
                        farewell: Arc::clone(self),
                        place: place.clone(),
                        over: false,
                    };
                    // A runtime that is about to end drops it at once, which waits.
                    place.spawn(watch.run());
                }
            }
        }
    }

    fn wait(&self) {
        if self.in_vain.load(Ordering::Relaxed) {
            return;
        }
        if wait_at_most(FAREWELL, self.undelivered.zero()).is_none() {
            self.in_vain.store(true, Ordering::Relaxed);
        }
    }
}

/// A task that ends when there is nothing to deliver, and waits for that when its runtime ends before.
struct Watch {
    farewell: Arc<Farewell>,
    place: Place,
    over: bool,
}

impl Watch {
    async fn run(mut self) {
        while !self.over {
            self.farewell.undelivered.zero().await;
            let mut watched = self.farewell.watched.lock();
            // Under the lock: who queues something now starts another watch, or has been counted.
            if self.farewell.undelivered.is_zero() {
                watched.retain(|watched| !watched.is(&self.place));
                drop(watched);
                self.over = true;
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.over {
            let mut watched = self.farewell.watched.lock();
            watched.retain(|watched| !watched.is(&self.place));
            drop(watched);
            self.farewell.wait();
        }
    }
}

impl fmt::Debug for Farewell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Farewell").finish_non_exhaustive()
    }
}
