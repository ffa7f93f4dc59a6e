//! Kinds of locks, and modes of holds.

use std::fmt;

/// The kind of a lock. Each kind has its own keys, so locks of different kinds with the same name are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockKind {
    /// A read/write lock, which only clients of dlock know.
    Rw,
    /// A string with an expiry, which clients in other languages share.
    Mutex,
    /// Such a string, with a fencing token for holders in dlock.
    FencedMutex,
}

impl LockKind {
    /// The number of kinds.
    pub(crate) const COUNT: usize = 3;

    /// What differs between the kinds.
    pub(crate) fn features(self) -> &'static Features {
        match self {
            Self::Rw => &RW,
            Self::Mutex => &MUTEX,
            Self::FencedMutex => &FENCED_MUTEX,
        }
    }

    /// The kind in words, as in metric labels: `rw`, `mutex` or `fenced_mutex`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.features().name
    }

    /// Whether programs without dlock may hold it.
    #[must_use]
    pub fn is_mutex(self) -> bool {
        self.features().is_string
    }

    /// Whether its grants have fencing tokens.
    #[must_use]
    pub fn has_tokens(self) -> bool {
        self.features().has_tokens
    }
}

/// What differs between the kinds of locks for all modules. How the operations on each are put into commands is in
/// `store/redis/wire`.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a difference of its own"
)]
pub(crate) struct Features {
    name: &'static str,
    has_tokens: bool,
    /// What stands between the prefix and the name in the key of the lock's hash.
    pub(crate) separator: &'static str,
    /// What marks a name that has braces of its own, in that key.
    pub(crate) own_braces: &'static str,
    /// Whether the lock is a string that other programs know, with the hash beside it. Otherwise the hash is the lock.
    pub(crate) is_string: bool,
    /// Whether a process may go on with its hold after a slice, as no other client waits (`yield`). Otherwise it releases, so
    /// that programs that poll find the lock free now and then.
    pub(crate) yields: bool,
    /// Whether a process may keep its hold for its next task: other clients have to be able to ask for it.
    pub(crate) lingers: bool,
    /// Whether a client remembers from answers in which slots other clients wait. It acquires by a plain command only where it
    /// knows that none does.
    pub(crate) remembers_waiters: bool,
}

const RW: Features = Features {
    name: "rw",
    has_tokens: true,
    separator: ":",
    own_braces: "",
    is_string: false,
    yields: true,
    lingers: true,
    remembers_waiters: false,
};

const MUTEX: Features = Features {
    name: "mutex",
    has_tokens: false,
    separator: "~m:",
    // The mutexes `a` and `{a}` are two, as their keys are; they share no hash.
    own_braces: ":",
    is_string: true,
    yields: false,
    lingers: false,
    remembers_waiters: true,
};

const FENCED_MUTEX: Features = Features {
    name: "fenced_mutex",
    has_tokens: true,
    ..MUTEX
};

impl fmt::Display for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The mode of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// Shared with other readers.
    Read,
    /// Excluding all other holders.
    Write,
}

impl LockMode {
    /// The mode in words, as in metric labels: `read` or `write`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for LockMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
