//! A lock in memory on a test's clock, in few words.

use std::sync::Arc;
use std::time::Duration;

use dlock::__internals::{HoldId, MemoryStore, Op, Reply, ServerClock as _, lock_key};
use dlock::{LockInfo, LockKey, Mode};
use dlock_tests::TestClock;

pub(crate) const LEASE: Duration = Duration::from_secs(10);
pub(crate) const PLACE: Duration = Duration::from_secs(1);

pub(crate) struct Lock {
    pub(crate) store: MemoryStore,
    key: LockKey,
    clock: TestClock,
}

impl Lock {
    pub(crate) fn new() -> Self {
        let clock = TestClock::default();
        Self {
            store: MemoryStore::with_clock(clock.clone()),
            key: lock_key("test", "lock").expect("a valid name"),
            clock,
        }
    }

    pub(crate) fn apply(&self, op: &Op) -> Reply {
        self.store.apply(&self.key, op)
    }

    /// Whom an operation wakes, by the names given here.
    pub(crate) fn woken(&self, op: &Op) -> Vec<String> {
        let (_, told) = self.store.decide(&self.key, op);
        told.iter()
            .map(|message| message.hold().client().as_str().to_owned())
            .collect()
    }

    /// A hold without queueing; its token, or `None` when the lock is busy.
    pub(crate) fn try_read(&self, name: &str) -> Option<u64> {
        self.attempt(&acquire(name, Mode::Read, None))
    }

    pub(crate) fn try_write(&self, name: &str) -> Option<u64> {
        self.attempt(&acquire(name, Mode::Write, None))
    }

    /// A hold, or a place in the line (or its refresh).
    pub(crate) fn read(&self, name: &str) -> Option<u64> {
        self.attempt(&acquire(name, Mode::Read, Some(PLACE)))
    }

    pub(crate) fn write(&self, name: &str) -> Option<u64> {
        self.attempt(&acquire(name, Mode::Write, Some(PLACE)))
    }

    pub(crate) fn release(&self, name: &str) -> Reply {
        self.apply(&release(name))
    }

    pub(crate) fn renew(&self, name: &str) -> Reply {
        self.apply(&Op::Renew {
            hold: id(name),
            lease: LEASE,
        })
    }

    pub(crate) fn inspect(&self) -> LockInfo {
        match self.apply(&Op::Inspect) {
            Reply::Info(info) => info,
            other => panic!("inspect answers {other:?}"),
        }
    }

    pub(crate) fn pass(&self, span: Duration) {
        self.clock.set(self.clock.micros() + micros(span));
    }

    /// All of `span` but the last microsecond.
    pub(crate) fn pass_almost(&self, span: Duration) {
        self.clock.set(self.clock.micros() + micros(span) - 1);
    }

    pub(crate) fn step_back(&self, span: Duration) {
        self.clock.set(self.clock.micros() - micros(span));
    }

    fn attempt(&self, op: &Op) -> Option<u64> {
        match self.apply(op) {
            Reply::Granted(token) => Some(token.as_u64()),
            Reply::Queued { .. } | Reply::Busy(_) => None,
            other => panic!("acquire answers {other:?}"),
        }
    }
}

pub(crate) fn id(name: &str) -> HoldId {
    HoldId::parse(&format!("{name}/0")).expect("an id")
}

pub(crate) fn acquire(name: &str, mode: Mode, queue: Option<Duration>) -> Op {
    Op::Acquire {
        hold: id(name),
        mode,
        lease: LEASE,
        owner: None,
        queue,
    }
}

/// An acquire under an explicit owner, without queueing.
pub(crate) fn acquire_as(owner: &str, name: &str, mode: Mode) -> Op {
    Op::Acquire {
        hold: id(name),
        mode,
        lease: LEASE,
        owner: Some(Arc::from(owner)),
        queue: None,
    }
}

pub(crate) fn release(name: &str) -> Op {
    Op::Release {
        hold: id(name),
        handed: None,
        lease: LEASE,
    }
}

pub(crate) fn abandon(name: &str) -> Op {
    Op::Abandon { hold: id(name) }
}

pub(crate) fn yield_now(name: &str) -> Op {
    Op::Yield {
        hold: id(name),
        handed: None,
        lease: LEASE,
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).expect("a short time")
}
