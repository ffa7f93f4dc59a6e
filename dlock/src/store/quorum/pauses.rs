//! How long to wait before the next attempt.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use super::members::Members;
use crate::clock::Instant;
use crate::random;
use crate::slot::Slot;

/// How often a lock is asked for that others hold, in milliseconds.
const POLL: std::ops::Range<u64> = 5..40;
/// How long an attempt takes where nothing is busy, at most.
const USUAL: Duration = Duration::from_millis(3);
/// How much longer than an attempt the pause after the sixth collision may be.
const HIGHEST: u8 = 6;
/// The shortest time that is taken for an attempt's.
const SHORTEST: Duration = Duration::from_millis(1);
/// The longest pause: no waiter sleeps for longer than a heartbeat.
const LONGEST: Duration = Duration::from_millis(250);
/// How often more than one member is asked whether a lock is still held. A lock that is free is idle for as long while the
/// member where contenders meet has a hold that is none.
const DOUBT: Duration = Duration::from_millis(200);
/// After how many acquires in a row that met nobody a lock counts as wanted by this client alone.
const CROWD: u8 = 8;
/// Locks with this many slots between them share what was learnt.
const PLACES: usize = 256;

/// How crowded locks are: attempts that meet share the members out among them, so that nobody has a majority. All of them
/// withdraw, and each comes back at a random time, of a span that doubles each time that this happens again.
#[derive(Debug)]
pub(super) struct Pauses {
    places: Box<[Place]>,
    born: Instant,
}

#[derive(Debug, Default)]
struct Place {
    collisions: AtomicU8,
    /// How many more acquires without a contender it takes until none is expected.
    crowd: AtomicU8,
    /// See [`holding`](Pauses::holding).
    holding: AtomicU32,
    /// When more than one member was asked last, in ms after `born`.
    doubted: AtomicU64,
}

impl Pauses {
    pub(super) fn new() -> Self {
        Self {
            places: (0..PLACES).map(|_| Place::default()).collect(),
            born: Instant::now(),
        }
    }

    fn of(&self, slot: Slot) -> &Place {
        &self.places[usize::from(slot.as_u16()) % PLACES]
    }

    /// Whether others are likely to want the lock at the same time.
    pub(super) fn is_crowded(&self, slot: Slot) -> bool {
        self.of(slot).crowd.load(Ordering::Relaxed) > 0
    }

    /// The members that have the lock's hold: contenders meet at one of them. Nothing if that is not known.
    pub(super) fn holding(&self, slot: Slot) -> Members {
        Members::from_bits(self.of(slot).holding.load(Ordering::Relaxed))
    }

    /// Whether a refusal of one member is not enough this time. Of all waiters of a client one asks the others.
    pub(super) fn doubts(&self, slot: Slot) -> bool {
        let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let doubted = &self.of(slot).doubted;
        let (now, last) = (
            millis(Instant::now() - self.born),
            doubted.load(Ordering::Relaxed),
        );
        let is_due = now >= last + millis(DOUBT);
        let order = Ordering::Relaxed;
        is_due && doubted.compare_exchange(last, now, order, order).is_ok()
    }

    /// The lock's hold stands at these members, and at no others.
    fn is_held_at(&self, slot: Slot, members: Members) {
        let place = self.of(slot);
        place.holding.store(members.bits(), Ordering::Relaxed);
    }

    /// An attempt has met others: one that holds the lock, at these members if that is known, or some that want it.
    pub(super) fn met(&self, slot: Slot, holding: Option<Members>) {
        self.of(slot).crowd.store(CROWD, Ordering::Relaxed);
        if let Some(holding) = holding {
            self.is_held_at(slot, holding);
        }
    }

    /// An attempt has won, and these members have the hold, if others were in the way at some.
    pub(super) fn won(&self, slot: Slot, holding: Members) {
        self.calm(slot);
        self.is_held_at(slot, holding);
        let crowd = &self.of(slot).crowd;
        let left = crowd.load(Ordering::Relaxed);
        if left > 0 {
            crowd.store(left - 1, Ordering::Relaxed);
        }
    }

    /// After an attempt that took so long and met others.
    pub(super) fn after_collision(&self, slot: Slot, took: Duration) -> Duration {
        let before = &self.of(slot).collisions;
        let collisions = before.load(Ordering::Relaxed).min(HIGHEST);
        before.store((collisions + 1).min(HIGHEST), Ordering::Relaxed);
        let span = took.max(SHORTEST) * 2 * (1 << collisions);
        span.mul_f64(random::f64() + 0.1).min(LONGEST)
    }

    /// The lock is somebody's: to be asked for again after a while, and less often where servers are slow to answer, which
    /// may be because so many ask.
    pub(super) fn while_held(&self, slot: Slot, took: Duration) -> Duration {
        self.calm(slot);
        let times = took.div_duration_f64(USUAL).max(1.0);
        let pause = Duration::from_millis(random::u64(POLL));
        pause.mul_f64(times).min(LONGEST)
    }

    /// Somebody has got it.
    fn calm(&self, slot: Slot) {
        let before = &self.of(slot).collisions;
        let collisions = before.load(Ordering::Relaxed);
        if collisions > 0 {
            before.store(collisions - 1, Ordering::Relaxed);
        }
    }
}

/// For how long a process stays away from a lock that it gives up at the end of its slice, if it does: those who poll
/// come by meanwhile.
pub(super) fn aside() -> Option<Duration> {
    // Not each time: who polls for it cannot tell that it does.
    (random::u64(0..4) == 0).then(|| Duration::from_millis(random::u64(POLL.end / 2..POLL.end)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LONGEST, Pauses};
    use crate::slot::Slot;

    #[test]
    fn pauses_grow_with_collisions_and_end_with_them() {
        let (pauses, slot) = (Pauses::new(), Slot::of("a"));
        let took = Duration::from_millis(4);
        let most = |pauses: &Pauses| {
            let one = pauses.after_collision(slot, took);
            pauses.calm(slot);
            one
        };
        for _ in 0..100 {
            assert!(most(&pauses) < 3 * took);
        }
        for _ in 0..10 {
            pauses.after_collision(slot, took);
        }
        let longest = (0..100).map(|_| most(&pauses)).max();
        assert!(longest > Some(8 * took) && longest <= Some(LONGEST));
        for _ in 0..10 {
            pauses.calm(slot);
        }
        assert!(most(&pauses) < 3 * took);
    }
}
