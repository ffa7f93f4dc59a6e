//! What is known of holds that keep contenders out.

use std::time::Duration;

use super::members::Members;
use crate::clock::Instant;
use crate::key::LockKey;
use crate::random::HashMap;
use crate::sync::Mutex;

/// How far apart members may say that one hold ends.
pub(super) const TOGETHER: Duration = Duration::from_millis(50);
/// For how long the member where contenders meet is believed that has the same hold all the time. A lock that is free is
/// idle for as long if that hold is not the lock's.
const DOUBT: Duration = Duration::from_millis(200);
/// For how long a lock is remembered that no task asks for.
const MEMORY: Duration = Duration::from_secs(10);
/// From how many locks on those are looked for.
const CROWD: usize = 1_000;

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
    /// Whether the refusal of one member, whose hold ends then, is not enough: it has said the same for a while. Of all
    /// waiters of a client one asks the others.
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

    /// Where contenders do not meet: members whose hold is not the lock's.
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
            self.crowd = CROWD.max(2 * self.seen.len());
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
