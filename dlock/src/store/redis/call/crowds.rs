//! Where locks were contended a moment ago, and when a process stays away from a mutex that it has just given back.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::caller::Caller;
use crate::clock::Instant;
use crate::key::LockKey;
use crate::slot::Slot;

/// How long a slot counts as crowded: longer than a place in a line is kept.
const MEMORY: Duration = Duration::from_secs(5);

/// Slots that share a cell only cost each other a script for a release.
const CELLS: usize = 4096;

/// The slots in which a lock was not its only hold's lately. Elsewhere a release is no script, which costs servers a third
/// less; the price is a second request when that was wrong.
///
/// And those in which a mutex was found without a line lately. Only there it is taken by a plain command, which would take
/// a free window that is for polling programs, or take the mutex past a line.
pub(super) struct Crowds {
    /// Until when, in seconds after `born`.
    crowded: Box<[AtomicU32]>,
    calm: Box<[AtomicU32]>,
    born: Instant,
}

impl Crowds {
    pub(super) fn new() -> Self {
        let cells = || (0..CELLS).map(|_| AtomicU32::new(0)).collect();
        Self {
            crowded: cells(),
            calm: cells(),
            born: Instant::now(),
        }
    }

    pub(super) fn has(&self, slot: Slot, now: Instant) -> bool {
        self.is_in(&self.crowded, slot, now)
    }

    /// Whether a mutex may be taken without a look at its line.
    pub(super) fn are_away(&self, slot: Slot, now: Instant) -> bool {
        !self.has(slot, now) && self.is_in(&self.calm, slot, now)
    }

    pub(super) fn mark(&self, slot: Slot, now: Instant) {
        self.note(&self.crowded, slot, now);
    }

    /// A mutex of this slot was had at once by the script that knows of its line.
    pub(super) fn mark_calm(&self, slot: Slot, now: Instant) {
        self.note(&self.calm, slot, now);
    }

    fn is_in(&self, cells: &[AtomicU32], slot: Slot, now: Instant) -> bool {
        let until = cell(cells, slot).load(Ordering::Relaxed);
        until != 0 && self.seconds(now) < until
    }

    fn note(&self, cells: &[AtomicU32], slot: Slot, now: Instant) {
        let until = self.seconds(now + MEMORY);
        cell(cells, slot).store(until, Ordering::Relaxed);
    }

    fn seconds(&self, at: Instant) -> u32 {
        u32::try_from((at - self.born).as_secs()).unwrap_or(u32::MAX)
    }
}

fn cell(cells: &[AtomicU32], slot: Slot) -> &AtomicU32 {
    &cells[usize::from(slot.as_u16()) % CELLS]
}

impl fmt::Debug for Crowds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crowds").finish_non_exhaustive()
    }
}

/// As long as `lua/mutex` leaves a mutex free where there is a line, and as often.
const FREE: Duration = Duration::from_millis(150);
const APART: Duration = Duration::from_secs(5);

impl Caller {
    /// After its tasks have had it for so long, one after the other: other programs may poll for it without being visible.
    /// Where there is a line, the server leaves it free.
    pub(in super::super) fn aside(&self, key: &LockKey, held: Duration) -> Option<Duration> {
        let crowded = self.crowds.has(key.slot(), Instant::now());
        (!crowded && held >= APART).then_some(FREE)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Crowds;
    use crate::clock::Instant;
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

    #[test]
    fn only_what_was_seen_calm_is_and_only_until_somebody_else_is_met() {
        let crowds = Crowds::new();
        let (here, now) = (Slot::of("a"), Instant::now());
        assert!(!crowds.are_away(here, now), "nobody has looked");
        crowds.mark_calm(here, now);
        assert!(crowds.are_away(here, now + Duration::from_secs(3)));
        assert!(!crowds.are_away(here, now + Duration::from_secs(6)));
        crowds.mark(here, now);
        assert!(!crowds.are_away(here, now));
    }
}
