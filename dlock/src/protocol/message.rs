//! What waiters are told, and what proves that a message is about this wait.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::LazyLock;

use super::HoldId;
use crate::random::Hashing;
use crate::token::ServerToken;

/// A message to one waiter. It may get lost; waiters poll now and then anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// The lock may be free for this acquisition: ask again.
    Look(HoldId),
    /// The lock has been passed on to this acquisition, for as long as its place in the line
    /// would have been kept.
    Granted {
        /// The id of the new holder.
        hold: HoldId,
        /// What the waiter has sent with its request.
        nonce: Nonce,
        /// The token of the grant.
        token: ServerToken,
    },
}

impl Message {
    /// The waiter that it is for.
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

/// A number that only the waiter and the lock's record know. A program that may publish on a waiter's channel, but not read the
/// lock, cannot make the waiter believe that it holds. Each request of a waiter has a number of its own, so a grant shows which
/// request the server had seen: that of a master which was deposed since repeats an earlier one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Nonce(u64);

impl Nonce {
    /// The nonce of a waiter that does not listen yet.
    pub const NOBODY: Self = Self(0);

    /// Of an acquisition's first request.
    #[must_use]
    pub fn of(hold: &HoldId) -> Self {
        Self::of_request(hold, 0)
    }

    /// Of one request of an acquisition. It cannot be guessed, not even from other nonces: it is a keyed hash (`SipHash`, with
    /// a key from the operating system), of which 56 bits do.
    #[must_use]
    pub fn of_request(hold: &HoldId, number: u64) -> Self {
        static KEY: LazyLock<Hashing> = LazyLock::new(Hashing::default);
        Self((KEY.hash_one((hold, number)) >> 8).max(1))
    }

    /// A given one, for tests.
    #[must_use]
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// Reads what [`Display`](fmt::Display) writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "-" {
            return Some(Self::NOBODY);
        }
        text.parse().ok().map(Self)
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NOBODY => f.write_str("-"),
            Self(number) => number.fmt(f),
        }
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::{HoldId, Nonce};

    #[test]
    fn nonces_differ_and_do_not_show() {
        let of = |text| Nonce::of(&HoldId::parse(text).expect("an id"));
        let (a, b) = (of("client/1/1"), of("client/1/2"));
        assert_eq!(of("client/1/1"), a);
        assert_ne!(a, b);
        let id = HoldId::parse("client/1/1").expect("an id");
        assert_ne!(Nonce::of_request(&id, 1), a);
        for nonce in [a, Nonce::NOBODY] {
            assert_eq!(Nonce::parse(&nonce.to_string()), Some(nonce));
        }
        assert_eq!(format!("{a:?}"), "Nonce(..)");
    }
}
