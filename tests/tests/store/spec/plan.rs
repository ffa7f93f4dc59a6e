//! The operations on one lock, their clients, and the events around it.

use std::time::Duration;

use dlock::__internals::Keys;
use dlock::{LockKind, LockMode};
use dlock_tests::Pieces;

/// Stands for one of however many there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Index(pub(crate) usize);

impl Index {
    pub(crate) fn of<T>(self, all: &[T]) -> &T {
        &all[self.0 % all.len()]
    }
}

/// Which scripts are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Operations on read/write locks.
    Rw,
    /// Operations on mutexes, with tokens and without.
    Mutex,
}

/// A sequence of steps on one lock.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) of: Family,
    pub(crate) actors: Vec<Actor>,
    pub(crate) pieces: Pieces,
    /// Whether clients hear sharded messages, or classic ones on a single server.
    pub(crate) sharded: bool,
    pub(crate) steps: Vec<Step>,
}

/// One acquisition: it always asks for the same.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    pub(crate) client: usize,
    pub(crate) kind: LockKind,
    pub(crate) mode: LockMode,
    pub(crate) owner: Option<&'static str>,
    /// The longest lease that it asks for: ten seconds, or so long that the lock is forgotten earlier.
    pub(crate) longest: Duration,
    /// Whether its holds may linger.
    pub(crate) lingers: bool,
}

/// Whose operation it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    Actor(usize),
    /// One of the holders of that moment, if there is one.
    Holder(Index),
    /// One of those who wait.
    Waiter(Index),
}

/// An operation, or something that happens to the clock or the network.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Send {
        who: Who,
        act: Act,
        publish: Publish,
        /// Whether the plain command is tried first, if there is one.
        plain: bool,
        /// Whether the script gets the string of a mutex without the hash beside it.
        keys: Keys,
    },
    /// An earlier request arrives once more.
    Resend {
        sent: Index,
        publish: Publish,
        plain: bool,
    },
    /// Another program does something to a mutex.
    Foreign(Foreign),
    /// The subscribers of this client's channel change.
    Hear {
        client: usize,
        hears: bool,
    },
    Forward(Duration),
    /// To a moment around one of the deadlines ahead.
    ForwardTo {
        deadline: Index,
        past: i64,
    },
    Back(Duration),
}

/// What other programs do to a mutex.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Foreign {
    /// Takes it if it is free, for so long or for ever.
    Take {
        value: &'static str,
        lease: Option<Duration>,
    },
    /// Frees it if one of them has it.
    Free,
    /// Removes it, whichever client has it.
    Remove,
}

/// How an operation tells others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Publish {
    /// So that the server knows who hears.
    Counted,
    /// The same, on the one channel that a client has on a single server.
    OneChannel,
    /// So that it does not.
    Uncounted,
    /// By its client, elsewhere.
    Noted,
    /// Not at all.
    Off,
}

impl Publish {
    /// The letter for scripts.
    pub(crate) fn letter(self, sharded: bool) -> &'static str {
        match self {
            Self::Counted if sharded => "S",
            Self::OneChannel if sharded => "s",
            Self::OneChannel => "p",
            Self::Counted => "P",
            Self::Noted if sharded => "R",
            Self::Uncounted | Self::Noted => "L",
            Self::Off => "",
        }
    }
}

/// A request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Acquire {
        lease: Duration,
        place: Option<Place>,
        /// How far ahead of the server's time, in microseconds, the request is valid.
        valid: i64,
    },
    Release {
        stray: Stray,
        /// How far ahead of the server's time, in microseconds, the tokens are that a hold which may linger was used with.
        spent: Option<i64>,
    },
    Renew {
        lease: Duration,
        /// It is to end then, and whether a copy of its acquire may come yet.
        end: Option<Stray>,
    },
    Abandon {
        stray: Stray,
    },
    Yield {
        lease: Duration,
        /// How many tokens ago the one was named that the client has seen last.
        stale: u64,
        stray: Stray,
        /// How far ahead of the server's time, in microseconds, the tokens are that a hold which may linger was used with.
        spent: Option<i64>,
    },
    /// Another server has named a token, so far ahead of this one's time in microseconds.
    Raise {
        ahead: i64,
    },
}

/// For how long a place is asked for, and how.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) lease: Duration,
    pub(crate) subscribed: bool,
    pub(crate) nonce: u64,
}

/// What a client says of its acquire that may be on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stray {
    None,
    /// Until when all its copies are over.
    Possible,
    /// Some other time, so far from now in microseconds.
    Odd(i64),
}

/// How many acquisitions there are.
pub(crate) const ACTORS: usize = 8;
/// How many clients they belong to.
pub(crate) const CLIENTS: usize = 3;
