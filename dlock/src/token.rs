//! Fencing tokens.

use std::fmt;

/// What a server names when it grants: its time in microseconds, or one more than the last, whichever is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerToken(u64);

impl ServerToken {
    /// From here on there are no fencing tokens that fit a signed 64-bit integer.
    const END: u64 = 1 << 52;

    /// Stands for the token of a grant without one; smaller than all others.
    pub(crate) const NONE: Self = Self(0);

    /// A number that is known to be one.
    #[must_use]
    pub const fn new(token: u64) -> Self {
        Self(token)
    }

    /// What a server has said, if that can be one.
    #[must_use]
    pub const fn said(token: u64) -> Option<Self> {
        if token > 0 && token < Self::END {
            Some(Self(token))
        } else {
            None
        }
    }

    /// What the server named of which this is one.
    #[must_use]
    pub const fn behind(token: FencingToken) -> Self {
        Self(token.0 / FencingToken::EACH)
    }

    /// As the server says it.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ServerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number that grows with every write grant of a lock.
///
/// Send it along with what the lock protects, and let the receiver refuse anything smaller than
/// the largest it has seen: then even a holder that was paused beyond its lease can do no harm.
/// The server's part is its time in microseconds, or one more than the last token, whichever is larger. The token is 2048 times that
/// part, plus one for each hand-over inside the process. So it is smaller than the server's next token, and no other server grants a
/// token in between. With [`linger`](crate::RwLock::linger) a process counts on, for as far as the server's time has room by then.
/// It fits a signed 64-bit integer (SQL `BIGINT`) until the year 2112, but not the 53 bits of a JavaScript number.
/// Readers that share one hold share its token.
///
/// Source: Martin Kleppmann, "How to do distributed locking", 2016.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FencingToken(u64);

impl FencingToken {
    /// How many tokens a client has for each that the server names.
    pub(crate) const EACH: u64 = 1 << 11;

    /// The first of those which belong to what the server named.
    pub(crate) const fn first_of(named: ServerToken) -> Self {
        Self(named.0 * Self::EACH)
    }

    /// One that [`Self::as_u64`] gave.
    pub(crate) const fn from_u64(token: u64) -> Self {
        Self(token)
    }

    /// The token as a number; at most `i64::MAX`.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
