//! Kinds of locks.

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

    /// The kind in words, as in metric labels: `rw`, `mutex` or `fenced_mutex`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rw => "rw",
            Self::Mutex => "mutex",
            Self::FencedMutex => "fenced_mutex",
        }
    }

    /// Whether programs without dlock may hold it.
    #[must_use]
    pub fn is_mutex(self) -> bool {
        self != Self::Rw
    }

    /// Whether its grants have fencing tokens.
    #[must_use]
    pub fn has_tokens(self) -> bool {
        self != Self::Mutex
    }
}

impl fmt::Display for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
