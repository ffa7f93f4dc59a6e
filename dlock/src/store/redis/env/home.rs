//! Who drives the connections of a store.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::tasks::Place;

/// The runtime on which the store was made, which saves each request two turns through another thread; and our own for
/// good once that has ended or stands still.
#[derive(Debug)]
pub(crate) struct Home {
    first: Place,
    left: AtomicBool,
}

impl Home {
    pub(super) fn here() -> Self {
        let first = Place::here();
        Self {
            left: AtomicBool::new(first.is_own()),
            first,
        }
    }

    /// Where the next connection is driven.
    pub(crate) fn place(&self) -> Place {
        if !self.is_left() && !self.first.is_running() {
            self.leave();
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

    /// The first runtime has ended, or does not run what it should.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Release);
    }
}
