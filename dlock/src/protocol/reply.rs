//! The answers.

use std::time::Duration;

use super::HoldId;
use crate::kind::LockMode;
use crate::token::{FencingToken, ServerToken};

/// What a store answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The lock is held (acquire), or still held (yield).
    Granted(ServerToken),
    /// The lock is held, under another id than it was asked for: a quorum has one for each attempt.
    GrantedAs(HoldId, ServerToken),
    /// Waiting in line.
    Queued {
        /// Look again after this long unless woken earlier.
        retry: Duration,
        /// The last token granted so far: if the lock is passed on to this place, the token is larger.
        last: Option<ServerToken>,
        /// The lock's time, in microseconds: tokens granted later are at most so much larger as time goes on.
        now: u64,
    },
    /// Not free; nothing was left behind. Worth another look after this long.
    Busy(Duration),
    /// Waiting would never end.
    WouldDeadlock,
    /// Renewed, and other clients wait for the lock: said of holds that linger.
    Wanted,
    /// Done: released, renewed, abandoned, or yielded to another client.
    Done,
    /// There was no such hold (or, for abandon, neither hold nor place; for acquire, it has been given up).
    Gone,
    /// An acquire came later than it was valid; the server's time in microseconds.
    TooLate(u64),
    /// A piece of a long clean-up is done: to be asked again at once.
    Again,
    /// The state of the lock.
    Info(LockInfo),
}

/// The state of a lock at one moment, as the server saw it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LockInfo {
    /// The last token granted, while the server remembers it (plain mutexes have none): until a second after the last hold's
    /// lease would have ended, or a minute after its release if that is earlier.
    pub last_token: Option<FencingToken>,
    /// The holders of the lock now, by id: 100 of them at most.
    pub holders: Vec<HoldInfo>,
    /// The waiters: writers in their order, then readers in theirs; 100 of them at most.
    pub waiters: Vec<WaiterInfo>,
    /// How many holds are recorded beyond those listed. The leases of some may be over.
    pub more_holders: u64,
    /// How many places in the line are recorded beyond those listed. Some may be over.
    pub more_waiters: u64,
}

impl LockInfo {
    /// How many hold the lock, listed or not.
    #[must_use]
    pub fn holder_count(&self) -> u64 {
        self.holders.len() as u64 + self.more_holders
    }

    /// How many wait, listed or not.
    #[must_use]
    pub fn waiter_count(&self) -> u64 {
        self.waiters.len() as u64 + self.more_waiters
    }

    /// How the lock is held now; `None` if it is free.
    #[must_use]
    pub fn mode(&self) -> Option<LockMode> {
        let write = self.holders.iter().any(|hold| hold.mode == LockMode::Write);
        match (write, self.holders.is_empty()) {
            (true, _) => Some(LockMode::Write),
            (false, false) => Some(LockMode::Read),
            (false, true) => None,
        }
    }
}

/// One hold of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HoldInfo {
    /// The id of the acquisition: `<client name>/<random>/<counter>`. Of a mutex that another program holds without
    /// dlock, the value of its key.
    pub id: String,
    /// Read or write.
    pub mode: LockMode,
    /// The rest of its lease, by the server's clock.
    pub remaining: Duration,
    /// The token it was granted with; `None` for a mutex, whose string does not say.
    pub token: Option<FencingToken>,
    /// How long ago that was, by the server's clock; `None` for a mutex, whose string does not say. A process that hands the
    /// lock on among its tasks while others wait for it begins anew whenever it asks the server for another slice.
    pub held_for: Option<Duration>,
    /// The explicit owner, if it has one.
    pub owner: Option<String>,
}

impl HoldInfo {
    /// Whether the holder of the mutex is no client of dlock, judged by its id.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        !HoldId::is_one(&self.id)
    }

    /// Whether the holder's process may keep the hold for its next task ([`RwLock::linger`](crate::RwLock::linger)), judged by its
    /// id. The server does not know whether a task uses the hold now.
    #[must_use]
    pub fn may_linger(&self) -> bool {
        !self.is_foreign() && self.id.ends_with(HoldId::LINGERS)
    }
}

/// One waiter in a lock's line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaiterInfo {
    /// The id of the acquisition that waits.
    pub id: String,
    /// Read or write.
    pub mode: LockMode,
    /// How long its place is kept without a refresh.
    pub remaining: Duration,
    /// How long it has waited, by the server's clock.
    pub waiting_for: Duration,
}
