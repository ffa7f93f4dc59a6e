//! A part of a store's locks, which are of either kind, and how they are forgotten.

use std::collections::VecDeque;

use super::lock::{Lock, Mutex, Post};
use crate::key::KeyMap;
use crate::key::LockKey;
use crate::kind::LockKind;
use crate::protocol::{Op, Reply};

/// From this many locks on, free ones are forgotten at once instead of after their second of
/// grace, so that memory follows what is held and not what has passed through.
const CROWDED: usize = 64;

/// Locks by key.
#[derive(Debug, Default)]
pub(super) struct Shard {
    locks: KeyMap<Record>,
    /// The keys of `locks`, in the order in which they are next looked at for removal.
    round: VecDeque<LockKey>,
    /// Larger than any token of a lock that was forgotten early: time starts here for new locks.
    floor: u64,
    /// For how many µs longer than it must a lock is remembered.
    slack: u64,
}

impl Shard {
    /// Sets how many µs longer than it must a lock is remembered.
    pub(super) fn remember_longer(&mut self, slack: u64) {
        self.slack = slack;
    }

    /// Carries out one operation.
    pub(super) fn apply(
        &mut self,
        key: &LockKey,
        op: &Op,
        valid_until: u64,
        time: u64,
        post: &mut Post<'_>,
    ) -> Reply {
        if let Some(lock) = self.locks.get_mut(key) {
            return lock.apply(key.kind(), op, valid_until, (time, self.slack), post);
        }
        let mut lock = Record::new(key.kind());
        let time_here = (time.max(self.floor), self.slack);
        let reply = lock.apply(key.kind(), op, valid_until, time_here, post);
        if !lock.is_idle() {
            self.sweep(time);
            self.locks.insert(key.clone(), lock);
            self.round.push_back(key.clone());
        }
        reply
    }

    /// A mutex, for what other programs do to it.
    pub(super) fn mutex<T>(
        &mut self,
        key: &LockKey,
        act: impl FnOnce(&mut Mutex) -> T,
    ) -> Option<T> {
        if !self.locks.contains_key(key) {
            self.locks.insert(key.clone(), Record::new(key.kind()));
            self.round.push_back(key.clone());
        }
        match self.locks.get_mut(key) {
            Some(Record::Mutex(mutex)) => Some(act(mutex)),
            _ => None,
        }
    }

    /// A lock's time, and until when it is remembered.
    pub(super) fn times(&self, key: &LockKey, time: u64) -> (u64, u64) {
        let lock = self
            .locks
            .get(key)
            .filter(|lock| !lock.is_forgotten(time, self.slack));
        lock.map(Record::lock)
            .map_or((time, 0), |lock| (lock.time(time), lock.remembered_until()))
    }

    /// The keys of the locks that are remembered.
    pub(super) fn keys(&self, time: u64) -> impl Iterator<Item = &str> {
        let locks = self.locks.iter();
        locks
            .filter(move |(_, lock)| !lock.lock().is_forgotten(time, self.slack))
            .map(|(key, _)| key.record())
    }

    /// Looks at the next two locks. As this comes before each insertion, the locks worth keeping
    /// are always at least half of all, and no insertion has to wait for many removals.
    fn sweep(&mut self, time: u64) {
        let crowded = self.locks.len() >= CROWDED;
        for _ in 0..2 {
            let Some(key) = self.round.pop_front() else {
                return;
            };
            let Some(lock) = self.locks.get(&key) else {
                continue;
            };
            if lock.is_forgotten(time, self.slack) {
                self.locks.remove(&key);
            } else if crowded && lock.is_idle() {
                self.floor = self.floor.max(lock.lock().last_token() + 1);
                self.locks.remove(&key);
            } else {
                self.round.push_back(key);
            }
        }
    }
}

/// A lock of either kind.
#[derive(Debug)]
enum Record {
    /// A read/write lock.
    Rw(Lock),
    /// A mutex.
    Mutex(Box<Mutex>),
}

impl Record {
    fn new(kind: LockKind) -> Self {
        match kind {
            LockKind::Rw => Self::Rw(Lock::default()),
            LockKind::Mutex | LockKind::FencedMutex => Self::Mutex(Box::default()),
        }
    }

    /// Carries out one operation at a server time; what is over by so many µs is forgotten.
    fn apply(
        &mut self,
        kind: LockKind,
        op: &Op,
        valid_until: u64,
        (time, slack): (u64, u64),
        post: &mut Post<'_>,
    ) -> Reply {
        match self {
            Self::Rw(lock) => {
                if lock.is_forgotten(time, slack) {
                    *lock = Lock::default();
                }
                lock.apply(op, valid_until, time, post)
            }
            Self::Mutex(mutex) => {
                mutex.apply(op, kind.has_tokens(), valid_until, time, slack, post)
            }
        }
    }

    /// The hash: all of a read/write lock, or what is kept beside a mutex.
    fn lock(&self) -> &Lock {
        match self {
            Self::Rw(lock) => lock,
            Self::Mutex(mutex) => mutex.beside(),
        }
    }

    fn is_idle(&self) -> bool {
        match self {
            Self::Rw(lock) => lock.is_idle(),
            Self::Mutex(mutex) => mutex.is_idle(),
        }
    }

    fn is_forgotten(&self, time: u64, slack: u64) -> bool {
        match self {
            Self::Rw(lock) => lock.is_forgotten(time, slack),
            Self::Mutex(mutex) => mutex.is_forgotten(time, slack),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CROWDED, Post, Shard};
    use crate::key::LockKey;
    use crate::kind::LockMode;
    use crate::protocol::{HoldId, Op, Reply, Stray};

    const SECOND: u64 = 1_000_000;

    fn key(n: usize) -> LockKey {
        LockKey::new("p", &format!("lock-{n}")).expect("valid")
    }

    fn id() -> HoldId {
        HoldId::parse("client/1/0").expect("valid")
    }

    fn apply(shard: &mut Shard, n: usize, op: &Op, time: u64) -> Reply {
        shard.apply(&key(n), op, u64::MAX, time, &mut Post::new(&mut |_| true))
    }

    fn lock(shard: &mut Shard, n: usize, time: u64) -> u64 {
        let acquire = Op::Acquire {
            hold: id(),
            mode: LockMode::Write,
            lease: Duration::from_secs(10),
            owner: None,
            place: None,
        };
        match apply(shard, n, &acquire, time) {
            Reply::Granted(token) => token.as_u64(),
            other => panic!("{other:?}"),
        }
    }

    fn unlock(shard: &mut Shard, n: usize, time: u64) {
        let release = Op::Release {
            hold: id(),
            lease: Duration::from_secs(10),
            stray: Stray::None,
            spent: None,
        };
        assert_eq!(apply(shard, n, &release, time), Reply::Done);
    }

    #[test]
    fn locks_that_passed_through_do_not_pile_up() {
        let mut shard = Shard::default();
        for n in 0..20 * CROWDED {
            lock(&mut shard, n, SECOND);
            unlock(&mut shard, n, SECOND);
        }
        assert!(shard.locks.len() <= CROWDED);
        assert_eq!(shard.round.len(), shard.locks.len());
    }

    #[test]
    fn locks_of_crashed_holders_do_not_pile_up() {
        let mut shard = Shard::default();
        for n in 0..20 * CROWDED {
            lock(&mut shard, n, n as u64 * SECOND);
        }
        assert!(shard.locks.len() <= 15);
    }

    #[test]
    fn held_locks_are_never_forgotten() {
        let mut shard = Shard::default();
        for n in 0..4 * CROWDED {
            lock(&mut shard, n, SECOND);
        }
        for n in 0..4 * CROWDED {
            unlock(&mut shard, n, SECOND);
        }
    }

    #[test]
    fn a_lock_forgotten_early_repeats_no_token() {
        let mut shard = Shard::default();
        let first = lock(&mut shard, 0, SECOND);
        unlock(&mut shard, 0, SECOND);
        for n in 1..4 * CROWDED {
            lock(&mut shard, n, SECOND);
        }
        assert!(!shard.locks.contains_key(&key(0)));
        assert!(lock(&mut shard, 0, SECOND) > first);
    }

    #[test]
    fn an_operation_that_leaves_nothing_behind_makes_no_entry() {
        let mut shard = Shard::default();
        let abandon = Op::Abandon {
            hold: id(),
            stray: Stray::None,
        };
        assert_eq!(apply(&mut shard, 0, &abandon, SECOND), Reply::Gone);
        assert!(shard.locks.is_empty());
    }
}
