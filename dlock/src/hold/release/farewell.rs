//! Seeing releases off: what a thread has left to the background is delivered before its runtime ends, or before it goes
//! on if it has none. Within a bound, and not again and again when that was in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::pending::{Pending, Tally};
use super::watched::Watched;
use crate::tasks::{Place, Whereabouts, wait_at_most, whereabouts};

/// How long the end of a runtime waits, and a thread that drops a guard.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);

/// What was queued by those who have not waited for it.
#[derive(Debug)]
pub(super) struct Farewell {
    undelivered: Arc<Tally>,
    watched: Watched<Place>,
    /// Whether somebody has waited in vain since there was nothing to deliver.
    in_vain: AtomicBool,
}

impl Farewell {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            undelivered: Arc::default(),
            watched: Watched::new(Place::is),
            in_vain: AtomicBool::new(false),
        })
    }

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
            Whereabouts::Own | Whereabouts::Ending => {}
            Whereabouts::Nowhere => self.wait(),
            Whereabouts::User(place) => {
                if self.watched.begin(place.clone()) {
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
            let Farewell {
                undelivered,
                watched,
                ..
            } = &*self.farewell;
            undelivered.zero().await;
            self.over = watched.end_if(&self.place, || undelivered.is_zero());
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.over {
            self.farewell.watched.end_if(&self.place, || true);
            self.farewell.wait();
        }
    }
}
