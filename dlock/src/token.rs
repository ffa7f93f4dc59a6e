//! Fencing tokens.

use std::fmt;

/// A number that grows with every write grant of a lock.
///
/// Send it along with what the lock protects, and let the receiver refuse anything smaller than
/// the largest it has seen: then even a holder that was paused beyond its lease can do no harm.
/// It is the server's time in microseconds or one more than the last token, whichever is larger;
/// it fits a signed 64-bit integer (SQL `BIGINT`). Readers that share one hold share its token.
///
/// Source: Martin Kleppmann, "How to do distributed locking", 2016.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FencingToken(u64);

impl FencingToken {
    pub(crate) fn new(token: u64) -> Self {
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
