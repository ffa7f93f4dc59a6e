//! What waiters are told.

use std::fmt;

use super::HoldId;
use crate::token::FencingToken;

/// A word to one waiter. It may get lost; who waits looks now and then anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// The lock may be free for this acquisition: ask again.
    Look(HoldId),
    /// The lock has been passed on to this acquisition, for as long as its place in the line
    /// would have been kept.
    Granted(HoldId, FencingToken),
}

impl Message {
    /// Whom it is for.
    #[must_use]
    pub fn hold(&self) -> &HoldId {
        match self {
            Self::Look(hold) | Self::Granted(hold, _) => hold,
        }
    }

    /// Reads what the scripts publish: `<hold id>` or `<hold id> <token>`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.split_once(' ') {
            None => Self::Look(HoldId::parse(text)?),
            Some((hold, token)) => {
                Self::Granted(HoldId::parse(hold)?, FencingToken::new(token.parse().ok()?))
            }
        })
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Look(hold) => hold.fmt(f),
            Self::Granted(hold, token) => write!(f, "{hold} {token}"),
        }
    }
}
