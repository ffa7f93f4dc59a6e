//! What kind of lock a name stands for.

use std::fmt;

/// The kinds of locks. Each has keys of its own, so that locks of two kinds with one name have nothing in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A read/write lock, which only clients of dlock know.
    Rw,
    /// A string with an expiry, as clients in other languages take it, too.
    Mutex,
    /// The same, with a fencing token for those who hold it through dlock.
    FencedMutex,
}

impl Kind {
    /// How many there are.
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

    /// Whether others may hold it who know nothing of dlock.
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

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
