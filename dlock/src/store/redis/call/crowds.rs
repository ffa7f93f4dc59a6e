//! Where locks were contended a moment ago, and when a process stays away from a mutex that it has just given back.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use super::caller::Caller;
use crate::clock::Instant;
use crate::key::LockKey;
use crate::slot::Slot;

/// How long a slot counts as crowded: longer than a place in a line is kept.
const MEMORY: Duration = Duration::from_secs(5);

/// Slots that share a cell only cost each other a script for a release.
const CELLS: usize = 4096;

/// After so many releases in a row that found nothing but their hold, a slot of read/write locks is not crowded any more. A
/// release that is wrong about that costs a request more. One that is a script for nothing makes an acquire and a release
/// 10 % slower (`w12-turns` of `scripts/bench`).
const ALONE: u8 = 8;

/// The slots in which a lock was not its only hold's lately. Elsewhere a release is no script, which costs servers a third
/// less; the price is a second request when that was wrong.
///
/// And those in which a mutex was found without a line lately. Only there it is taken by a plain command, which would take
/// a free window that is for polling programs, or take the mutex past a line. So what is known of read/write locks says nothing
/// about the mutexes of a slot.
pub(super) struct Crowds {
    /// Until when, in seconds after `born`.
    crowded: Box<[AtomicU32]>,
    crowded_mutexes: Box<[AtomicU32]>,
    calm: Box<[AtomicU32]>,
    /// How many releases in a row found nothing but their hold.
    alone: Box<[AtomicU8]>,
    born: Instant,
}

impl Crowds {
    pub(super) fn new() -> Self {
        let cells = || (0..CELLS).map(|_| AtomicU32::new(0)).collect();
        Self {
            crowded: cells(),
            crowded_mutexes: cells(),
            calm: cells(),
            alone: (0..CELLS).map(|_| AtomicU8::new(0)).collect(),
            born: Instant::now(),
        }
    }

    pub(super) fn has(&self, key: &LockKey, now: Instant) -> bool {
        self.is_in(self.crowded(key), key, now)
    }

    /// Whether a mutex may be taken without a look at its line.
    pub(super) fn are_away(&self, key: &LockKey, now: Instant) -> bool {
        !self.has(key, now) && self.is_in(&self.calm, key, now)
    }

    pub(super) fn mark(&self, key: &LockKey, now: Instant) {
        self.note(self.crowded(key), key, now);
        cell(&self.alone, key.slot()).store(0, Ordering::Relaxed);
    }

    /// A mutex of this slot was had at once by the script that knows of its line.
    pub(super) fn mark_calm(&self, key: &LockKey, now: Instant) {
        self.note(&self.calm, key, now);
    }

    /// A release of a read/write lock that knows of its line found nothing but its hold, or more.
    pub(super) fn released(&self, key: &LockKey, alone: bool) {
        let count = cell(&self.alone, key.slot());
        if !alone {
            count.store(0, Ordering::Relaxed);
        } else if count.fetch_add(1, Ordering::Relaxed) + 1 >= ALONE {
            count.store(0, Ordering::Relaxed);
            cell(&self.crowded, key.slot()).store(0, Ordering::Relaxed);
        }
    }

    fn crowded(&self, key: &LockKey) -> &[AtomicU32] {
        if key.kind().features().remembers_waiters {
            &self.crowded_mutexes
        } else {
            &self.crowded
        }
    }

    fn is_in(&self, cells: &[AtomicU32], key: &LockKey, now: Instant) -> bool {
        let until = cell(cells, key.slot()).load(Ordering::Relaxed);
        until != 0 && self.seconds(now) < until
    }

    fn note(&self, cells: &[AtomicU32], key: &LockKey, now: Instant) {
        let until = self.seconds(now + MEMORY);
        cell(cells, key.slot()).store(until, Ordering::Relaxed);
    }

    fn seconds(&self, at: Instant) -> u32 {
        u32::try_from((at - self.born).as_secs()).unwrap_or(u32::MAX)
    }
}

fn cell<T>(cells: &[T], slot: Slot) -> &T {
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
        let crowded = self.crowds.has(key, Instant::now());
        (!crowded && held >= APART).then_some(FREE)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ALONE, Crowds};
    use crate::clock::Instant;
    use crate::key::LockKey;
    use crate::kind::LockKind;

    fn key(name: &str) -> LockKey {
        LockKey::new("", name).expect("a valid name")
    }

    fn mutex(name: &str) -> LockKey {
        LockKey::mutex(LockKind::Mutex, "", name).expect("a valid name")
    }

    #[test]
    fn a_crowd_is_forgotten_after_a_while() {
        let crowds = Crowds::new();
        let (here, now) = (key("a"), Instant::now());
        assert!(!crowds.has(&here, now));
        crowds.mark(&here, now);
        assert!(crowds.has(&here, now + Duration::from_secs(3)));
        assert!(!crowds.has(&here, now + Duration::from_secs(6)));
        assert!(!crowds.has(&key("b"), now));
    }

    #[test]
    fn a_crowd_is_forgotten_when_releases_in_a_row_found_only_their_hold() {
        let crowds = Crowds::new();
        let (here, now) = (key("a"), Instant::now());
        crowds.mark(&mutex("a"), now);
        crowds.mark(&here, now);
        let nearly = || {
            for _ in 1..ALONE {
                crowds.released(&here, true);
                assert!(crowds.has(&here, now));
            }
        };
        nearly();
        crowds.released(&here, false);
        nearly();
        crowds.mark(&here, now);
        nearly();
        crowds.released(&here, true);
        assert!(!crowds.has(&here, now));
        assert!(crowds.has(&mutex("a"), now), "says nothing about mutexes");
    }

    #[test]
    fn only_a_slot_that_was_seen_calm_is_and_only_until_another_client_is_met() {
        let crowds = Crowds::new();
        let (here, now) = (mutex("a"), Instant::now());
        assert!(!crowds.are_away(&here, now), "no client has looked");
        crowds.mark_calm(&here, now);
        assert!(crowds.are_away(&here, now + Duration::from_secs(3)));
        assert!(!crowds.are_away(&here, now + Duration::from_secs(6)));
        crowds.mark(&here, now);
        assert!(!crowds.are_away(&here, now));
    }
}
