//! Other clients that want the same lock: how long to wait before the next attempt, how many attempts in a row no majority
//! answered, and what is known of holds that keep contenders out.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use super::members::Members;
use crate::clock::{Instant, sleep};
use crate::error::Error;
use crate::key::LockKey;
use crate::random::{self, HashMap};
use crate::slot::Slot;
use crate::sync::Mutex;

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
/// After how many acquires in a row without a contender a lock counts as wanted by this client alone.
const CROWD: u8 = 8;
/// Locks with this many slots between them share what was learnt.
const PLACES: usize = 256;

/// How contended locks are. Attempts that meet divide the members among them, so that none has a majority. All of them
/// withdraw, and each comes back at a random time within a span. The span doubles with each collision.
#[derive(Debug)]
pub(super) struct Pauses {
    places: Box<[Place]>,
}

#[derive(Debug, Default)]
struct Place {
    collisions: AtomicU8,
    /// How many more acquires without a contender it takes until none is expected.
    crowd: AtomicU8,
    /// The members that had a hold when a majority had one.
    holding: AtomicU32,
}

impl Pauses {
    pub(super) fn new() -> Self {
        Self {
            places: (0..PLACES).map(|_| Place::default()).collect(),
        }
    }

    fn of(&self, slot: Slot) -> &Place {
        &self.places[usize::from(slot.as_u16()) % PLACES]
    }

    /// Whether others are likely to want the lock at the same time.
    pub(super) fn is_crowded(&self, slot: Slot) -> bool {
        self.of(slot).crowd.load(Ordering::Relaxed) > 0
    }

    /// The members that had a hold when all were asked: each majority has one of them. Empty if unknown.
    pub(super) fn holding(&self, slot: Slot) -> Members {
        Members::from_bits(self.of(slot).holding.load(Ordering::Relaxed))
    }

    /// An attempt has met others: one that holds the lock, at these members if all were asked, or some that want it.
    pub(super) fn met(&self, slot: Slot, held: bool, holding: Option<Members>) {
        let place = self.of(slot);
        place.crowd.store(CROWD, Ordering::Relaxed);
        if holding.is_some() || !held {
            let bits = holding.unwrap_or_default().bits();
            place.holding.store(bits, Ordering::Relaxed);
        }
    }

    /// An attempt has won.
    pub(super) fn won(&self, slot: Slot) {
        self.calm(slot);
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

    /// How long to wait before the next attempt at a lock that is held. Longer where servers answer slowly, which many requests
    /// may have caused.
    pub(super) fn while_held(&self, slot: Slot, took: Duration) -> Duration {
        self.calm(slot);
        let times = took.div_duration_f64(USUAL).max(1.0);
        let pause = Duration::from_millis(random::u64(POLL));
        pause.mul_f64(times).min(LONGEST)
    }

    /// A client has got the lock.
    fn calm(&self, slot: Slot) {
        let before = &self.of(slot).collisions;
        let collisions = before.load(Ordering::Relaxed);
        if collisions > 0 {
            before.store(collisions - 1, Ordering::Relaxed);
        }
    }
}

/// For how long a process stays away from a lock that it releases at the end of its slice, if it does. Polling clients get a chance
/// meanwhile.
pub(super) fn aside() -> Option<Duration> {
    // Not each time: a quorum does not know whether any client polls.
    (random::u64(0..4) == 0).then(|| Duration::from_millis(random::u64(POLL.end / 2..POLL.end)))
}

/// One try after the other until a deadline.
pub(super) struct Tries {
    deadline: Instant,
    /// How long members may take to answer one.
    patience: Duration,
    /// Whether the present one ends with the deadline, and members may have too little time.
    is_cut: bool,
    /// Why the last one was in vain that was not cut short, or the first.
    known: Option<Error>,
}

impl Tries {
    pub(super) fn new(patience: Duration, deadline: Instant) -> Self {
        Self {
            deadline,
            patience,
            is_cut: false,
            known: None,
        }
    }

    /// The next one begins.
    pub(super) fn begin(&mut self) {
        self.is_cut = self.deadline < Instant::now() + self.patience;
    }

    /// It was in vain. Waits before servers that do not answer are asked again; an error if there is no use or no time.
    pub(super) async fn again(&mut self, error: Error, hopeless: bool) -> Result<(), Error> {
        if hopeless {
            return Err(error);
        }
        // That a server had no time to answer says nothing about it.
        let error = match self.known.take() {
            Some(known) if self.is_cut => known,
            _ => error,
        };
        let pause = Duration::from_millis(random::u64(20..100));
        if Instant::now() + pause >= self.deadline {
            return Err(error);
        }
        self.known = Some(error);
        sleep(pause).await;
        Ok(())
    }
}

/// How far apart members may say that one hold ends.
pub(super) const TOGETHER: Duration = Duration::from_millis(50);
/// For how long the member where contenders meet is believed that has the same hold all the time. A lock that is free is
/// idle for as long if that hold is not the lock's.
const DOUBT: Duration = Duration::from_millis(200);
/// For how long a lock is remembered that no task asks for.
const MEMORY: Duration = Duration::from_secs(10);
/// From how many locks on forgotten ones are removed.
const MANY: usize = 1_000;

/// The refusals of the member where contenders meet, for each lock that tasks wait for.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    locks: Mutex<Locks>,
}

#[derive(Debug, Default)]
struct Locks {
    seen: HashMap<LockKey, Seen>,
    crowd: usize,
}

/// The hold that was seen last at a lock.
#[derive(Debug)]
struct Seen {
    end: Instant,
    /// Since when it has been there, or when other members were asked last.
    since: Instant,
    last: Instant,
    /// The members that have a hold that is not the lock's.
    astray: Members,
}

impl Refusals {
    /// Whether the refusal of one member, whose hold ends then, is not enough: the member has reported the same end for a while.
    /// Then one waiter of each client asks the other members.
    pub(super) fn doubts(&self, key: &LockKey, end: Instant) -> bool {
        let now = Instant::now();
        let mut locks = self.locks.lock();
        let Some(seen) = locks.seen.get_mut(key) else {
            locks.put(key, end, now);
            return false;
        };
        let is_same = seen.end.max(end) - seen.end.min(end) < TOGETHER;
        let is_due = is_same && now - seen.since >= DOUBT;
        if !is_same {
            seen.end = end;
        }
        if is_due || !is_same {
            seen.since = now;
        }
        seen.last = now;
        is_due
    }

    /// The members with a hold that a majority does not have. Contenders do not meet there.
    pub(super) fn astray(&self, key: &LockKey) -> Members {
        let locks = self.locks.lock();
        locks
            .seen
            .get(key)
            .map_or(Members::default(), |seen| seen.astray)
    }

    /// The lock is held or free, and these members say otherwise: they have the hold of a contender that has died.
    pub(super) fn are_astray(&self, key: &LockKey, members: Members) {
        if let Some(seen) = self.locks.lock().seen.get_mut(key) {
            seen.astray = members;
        }
    }
}

impl Locks {
    fn put(&mut self, key: &LockKey, end: Instant, now: Instant) {
        if self.seen.len() >= self.crowd {
            self.seen.retain(|_, seen| now - seen.last < MEMORY);
            self.crowd = MANY.max(2 * self.seen.len());
        }
        let seen = Seen {
            end,
            since: now,
            last: now,
            astray: Members::default(),
        };
        self.seen.insert(key.clone(), seen);
    }
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
