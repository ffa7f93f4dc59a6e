//! What waiters are told.

use std::fmt;

use super::{HoldId, Nonce};
use crate::token::ServerToken;

/// A word to one waiter. It may get lost; who waits looks now and then anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// The lock may be free for this acquisition: ask again.
    Look(HoldId),
    /// The lock has been passed on to this acquisition, for as long as its place in the line
    /// would have been kept.
    Granted {
        /// Who holds the lock now.
        hold: HoldId,
        /// What the waiter has sent with its request.
        nonce: Nonce,
        /// The token of the grant.
        token: ServerToken,
    },
}

impl Message {
    /// Whom it is for.
    #[must_use]
    pub fn hold(&self) -> &HoldId {
        match self {
            Self::Look(hold) | Self::Granted { hold, .. } => hold,
        }
    }

    /// Reads what the scripts publish: `<hold id>` or `<hold id> <nonce> <token>`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let hold = HoldId::parse(words.next()?)?;
        let message = match (words.next(), words.next()) {
            (None, _) => Self::Look(hold),
            (Some(nonce), Some(token)) => Self::Granted {
                hold,
                nonce: Nonce::parse(nonce)?,
                token: ServerToken::said(token.parse().ok()?)?,
            },
            (Some(_), None) => return None,
        };
        words.next().is_none().then_some(message)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Look(hold) => hold.fmt(f),
            Self::Granted { hold, nonce, token } => write!(f, "{hold} {nonce} {token}"),
        }
    }
}
