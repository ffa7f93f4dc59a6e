//! Where somebody sees to it that what is queued is delivered.

use std::fmt;

use crate::sync::Mutex;

/// The places at which a watch runs. `P` is a runtime.
pub(in crate::hold) struct Watched<P> {
    places: Mutex<Vec<P>>,
    same: fn(&P, &P) -> bool,
}

impl<P> Watched<P> {
    pub(in crate::hold) fn new(same: fn(&P, &P) -> bool) -> Self {
        let places = Mutex::default();
        Self { places, same }
    }

    /// After something was queued at a place: whether a watch has to begin there.
    pub(in crate::hold) fn begin(&self, place: P) -> bool {
        let mut places = self.places.lock();
        let begins = !places.iter().any(|other| (self.same)(other, &place));
        if begins {
            places.push(place);
        }
        begins
    }

    /// A watch that saw nothing left to wait for ends, if that is still so: who queued something meanwhile has counted it
    /// before asking whether a watch has to begin.
    pub(in crate::hold) fn end_if(&self, place: &P, nothing_left: impl FnOnce() -> bool) -> bool {
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
