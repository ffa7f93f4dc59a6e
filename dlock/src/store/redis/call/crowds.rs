//! Where locks were contended a moment ago.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::clock::Instant;
use crate::slot::Slot;

/// How long a slot counts as crowded: longer than a place in a line is kept.
const MEMORY: Duration = Duration::from_secs(5);

/// Slots that share a cell only cost each other a script for a release.
const CELLS: usize = 4096;

/// The slots in which a lock was not its only hold's lately. Elsewhere a release is no script, which costs servers a third
/// less; the price is a second request when that was wrong.
pub(super) struct Crowds {
    /// Until when, in seconds after `born`.
    until: Box<[AtomicU32]>,
    born: Instant,
}

impl Crowds {
    pub(super) fn new() -> Self {
        Self {
            until: (0..CELLS).map(|_| AtomicU32::new(0)).collect(),
            born: Instant::now(),
        }
    }

    pub(super) fn has(&self, slot: Slot, now: Instant) -> bool {
        let until = self.cell(slot).load(Ordering::Relaxed);
        until != 0 && self.seconds(now) < until
    }

    pub(super) fn mark(&self, slot: Slot, now: Instant) {
        let until = self.seconds(now + MEMORY);
        self.cell(slot).store(until, Ordering::Relaxed);
    }

    fn cell(&self, slot: Slot) -> &AtomicU32 {
        &self.until[usize::from(slot.as_u16()) % CELLS]
    }

    fn seconds(&self, at: Instant) -> u32 {
        u32::try_from((at - self.born).as_secs()).unwrap_or(u32::MAX)
    }
}

impl fmt::Debug for Crowds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crowds").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::clock::Instant;

    use super::Crowds;
    use crate::slot::Slot;

    #[test]
    fn a_crowd_is_forgotten_after_a_while() {
        let crowds = Crowds::new();
        let (here, now) = (Slot::of("a"), Instant::now());
        assert!(!crowds.has(here, now));
        crowds.mark(here, now);
        assert!(crowds.has(here, now + Duration::from_secs(3)));
        assert!(!crowds.has(here, now + Duration::from_secs(6)));
        assert!(!crowds.has(Slot::of("b"), now));
    }
}
