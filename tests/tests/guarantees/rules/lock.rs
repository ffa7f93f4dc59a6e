//! A lock in memory on a test's clock, in few words.

use std::sync::Arc;
use std::time::Duration;

use dlock::__internals::{
    Extent, HoldId, MemoryStore, Message, Nonce, Op, PlaceTerms, Post, Reply, ServerClock as _,
    ServerToken, Stray, lock_key,
};
use dlock::{LockInfo, LockKey, LockMode};
use dlock_tests::TestClock;

pub(crate) const LEASE: Duration = Duration::from_secs(10);
pub(crate) const PLACE: Duration = Duration::from_secs(1);
/// How long a request may take.
const VALID: Duration = Duration::from_secs(2);

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
        self.carry_out(op, |_| true)
    }

    /// The waiters that an operation wakes, by the names given here. All waiters are subscribed.
    pub(crate) fn woken(&self, op: &Op) -> Vec<String> {
        let mut told = Vec::new();
        self.carry_out(op, |message| {
            told.push(message.hold().client().as_str().to_owned());
            true
        });
        told
    }

    /// `tell` says who hears.
    pub(crate) fn carry_out(&self, op: &Op, tell: impl FnMut(&Message) -> bool) -> Reply {
        self.carry_out_until(self.now() + micros(VALID), op, tell)
    }

    /// A request that is valid until then.
    pub(crate) fn carry_out_until(
        &self,
        valid_until: u64,
        op: &Op,
        mut tell: impl FnMut(&Message) -> bool,
    ) -> Reply {
        let mut post = Post::new(&mut tell);
        self.store.decide(&self.key, op, valid_until, &mut post)
    }

    /// The attached clients that an operation reaches.
    pub(crate) fn apply_for_clients(&self, op: &Op) -> Reply {
        self.store.apply(&self.key, op)
    }

    /// The server's time in microseconds.
    pub(crate) fn now(&self) -> u64 {
        self.clock.micros()
    }

    pub(crate) fn key(&self) -> &LockKey {
        &self.key
    }

    /// The end of a slice of a hold, as its holder asks.
    pub(crate) fn end_of_slice(&self, name: &str) -> Op {
        let hold = id(name);
        let holders = self.inspect().holders;
        let mine = holders.iter().find(|other| other.id == hold.to_string());
        Op::Yield {
            hold,
            lease: LEASE,
            seen: mine
                .and_then(|mine| mine.token)
                .map_or(ServerToken::new(1), ServerToken::behind),
            stray: Stray::None,
            spent: None,
        }
    }

    /// A hold without queueing; its token, or `None` when the lock is busy.
    pub(crate) fn try_read(&self, name: &str) -> Option<u64> {
        self.attempt(&acquire(name, LockMode::Read, None))
    }

    pub(crate) fn try_write(&self, name: &str) -> Option<u64> {
        self.attempt(&acquire(name, LockMode::Write, None))
    }

    /// A hold, or a place in the line (or its refresh).
    pub(crate) fn read(&self, name: &str) -> Option<u64> {
        self.attempt(&acquire(name, LockMode::Read, Some(PLACE)))
    }

    pub(crate) fn write(&self, name: &str) -> Option<u64> {
        self.attempt(&acquire(name, LockMode::Write, Some(PLACE)))
    }

    pub(crate) fn release(&self, name: &str) -> Reply {
        self.apply(&release(name))
    }

    pub(crate) fn renew(&self, name: &str) -> Reply {
        self.apply(&Op::Renew {
            hold: id(name),
            lease: LEASE,
            extent: Extent::Longer,
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

pub(crate) fn acquire(name: &str, mode: LockMode, place: Option<Duration>) -> Op {
    Op::Acquire {
        hold: id(name),
        mode,
        lease: LEASE,
        owner: None,
        place: place.map(|lease| terms(name, lease)),
    }
}

/// The queue position of a subscribed waiter.
pub(crate) fn terms(name: &str, lease: Duration) -> PlaceTerms {
    PlaceTerms {
        lease,
        subscribed: true,
        nonce: Nonce::of(&id(name)),
    }
}

/// An acquire under an explicit owner, without queueing.
pub(crate) fn acquire_as(owner: &str, name: &str, mode: LockMode) -> Op {
    Op::Acquire {
        hold: id(name),
        mode,
        lease: LEASE,
        owner: Some(Arc::from(owner)),
        place: None,
    }
}

pub(crate) fn release(name: &str) -> Op {
    Op::Release {
        hold: id(name),
        lease: LEASE,
        stray: Stray::None,
        spent: None,
    }
}

pub(crate) fn abandon(name: &str) -> Op {
    Op::Abandon {
        hold: id(name),
        stray: Stray::None,
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).expect("a short time")
}
