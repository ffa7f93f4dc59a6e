//! Releases that are not delivered yet: counts them, and delivers them before a runtime or the process ends.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::sync::Mutex;
use crate::tasks::{Place, Whereabouts, wait_at_most, whereabouts};

/// How long the end of a runtime waits, and a thread that drops a guard.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);

/// Releases that were queued without a caller that waits for them.
#[derive(Debug)]
pub(super) struct Farewell {
    undelivered: Arc<Tally>,
    watched: Watched<Place>,
    /// Whether a wait has been in vain since there was last nothing to deliver.
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

    /// Queued releases are delivered before the runtime of this thread has ended; now, if the thread has no runtime.
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

/// How many acquires and releases are under way.
#[derive(Debug, Default)]
pub(super) struct Tally {
    count: AtomicUsize,
    /// Whether a task has waited for zero: until then no notice is needed.
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

/// The places at which a watch runs. `P` is a runtime.
pub(super) struct Watched<P> {
    places: Mutex<Vec<P>>,
    same: fn(&P, &P) -> bool,
}

impl<P> Watched<P> {
    pub(super) fn new(same: fn(&P, &P) -> bool) -> Self {
        let places = Mutex::default();
        Self { places, same }
    }

    /// After something was queued at a place: whether a watch has to begin there.
    pub(super) fn begin(&self, place: P) -> bool {
        let mut places = self.places.lock();
        let begins = !places.iter().any(|other| (self.same)(other, &place));
        if begins {
            places.push(place);
        }
        begins
    }

    /// A watch that saw nothing left to wait for ends, if that is still so: a task that queued a release meanwhile has counted it
    /// before asking whether a watch has to begin.
    pub(super) fn end_if(&self, place: &P, nothing_left: impl FnOnce() -> bool) -> bool {
        let mut places = self.places.lock();
        let ends = nothing_left();
        if ends {
            places.retain(|other| !(self.same)(other, place));
        }
        ends
    }
}

impl<P> fmt::Debug for Watched<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").finish_non_exhaustive()
    }
}
