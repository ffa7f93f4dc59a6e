//! The operations on one lock, and what both stores make of a lease.

use std::sync::Arc;
use std::time::Duration;

use super::{HoldId, Nonce};
use crate::kind::LockMode;
use crate::metrics::names::OPS;
use crate::token::ServerToken;

/// One operation. Each is one round trip, and sending it twice has the effect of once, however late the second
/// copy arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Take the lock, or a place in its line.
    Acquire {
        /// The id of this acquisition.
        hold: HoldId,
        /// Read or write.
        mode: LockMode,
        /// How long the hold lasts without a renewal.
        lease: Duration,
        /// Whose hold it is, for re-entry; `None` stands for this hold alone.
        owner: Option<Arc<str>>,
        /// Queue when the lock is not free; `None` is busy then.
        place: Option<PlaceTerms>,
    },
    /// Give a hold back.
    Release {
        /// The acquisition to give back.
        hold: HoldId,
        /// How long it would have lasted.
        lease: Duration,
        /// Whether a copy of the acquire may still be on its way.
        stray: Stray,
        /// Up to which token of the server's the client has used tokens, if the server did not name it: a hold that lingers counts on.
        spent: Option<ServerToken>,
    },
    /// Extend a hold.
    Renew {
        /// The acquisition to extend.
        hold: HoldId,
        /// How long it lasts from now.
        lease: Duration,
        /// Whether it may end earlier than it would have.
        extent: Extent,
    },
    /// Undo an acquire, whatever became of it.
    Abandon {
        /// The acquisition to undo.
        hold: HoldId,
        /// Whether the acquire, or a copy of it, may still be on its way.
        stray: Stray,
    },
    /// Let the line in if any client waits, otherwise go on with a fresh token.
    Yield {
        /// The acquisition that may go on.
        hold: HoldId,
        /// How long it lasts from now if it goes on.
        lease: Duration,
        /// The last token that the server named for this hold: by it, a late copy is known.
        seen: ServerToken,
        /// Whether a copy of the acquire may still be on its way.
        stray: Stray,
        /// Up to which token of the server's the client has used tokens, if the server did not name it: a hold that lingers counts on.
        spent: Option<ServerToken>,
    },
    /// Remember a token that another server has named for the same hold: the next one here is larger. (By this hold, or also
    /// without it if the clock has not come to the token yet.)
    Raise {
        /// The acquisition that it belongs to.
        hold: HoldId,
        /// The token.
        token: ServerToken,
    },
    /// Read the state of the lock.
    Inspect,
}

/// What a renewal does to the end of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// It comes later, or stays.
    Longer,
    /// It ends then, even if that is earlier: no client relies on the hold any more, which is to end by itself.
    Exactly {
        /// Whether a copy of the acquire may still be on its way.
        stray: Stray,
    },
}

/// How a place in the line is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceTerms {
    /// For how long without a refresh.
    pub lease: Duration,
    /// Whether the waiter hears messages: one that does not hear although it said so is passed over.
    pub subscribed: bool,
    /// What a grant by message has to repeat: [`Nonce::of`] the hold, or a nonce that no waiter has.
    pub nonce: Nonce,
}

/// Whether an acquire whose outcome is settled may still arrive at the server. If so, the server is told to ignore it
/// for as long as such a request is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stray {
    /// Every request was answered.
    None,
    /// One was not.
    Possible,
}

impl Op {
    /// The names of all operations.
    pub const NAMES: [&'static str; 7] = OPS;

    /// The operation's name, as in metric labels.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Acquire { .. } => "acquire",
            Self::Release { .. } => "release",
            Self::Renew { .. } => "renew",
            Self::Abandon { .. } => "abandon",
            Self::Yield { .. } => "yield",
            Self::Raise { .. } => "raise",
            Self::Inspect => "inspect",
        }
    }

    /// Whether an acquire of which this settles the outcome may still arrive.
    #[must_use]
    pub fn stray(&self) -> Stray {
        match self {
            Self::Release { stray, .. }
            | Self::Abandon { stray, .. }
            | Self::Yield { stray, .. }
            | Self::Renew {
                extent: Extent::Exactly { stray },
                ..
            } => *stray,
            Self::Acquire { .. } | Self::Renew { .. } | Self::Raise { .. } | Self::Inspect => {
                Stray::None
            }
        }
    }

    /// Whether this may let a waiter in.
    #[must_use]
    pub fn passes_on(&self) -> bool {
        matches!(
            self,
            Self::Release { .. } | Self::Yield { .. } | Self::Abandon { .. }
        )
    }
}

/// How long a free lock's last token is remembered at most.
const LONGEST_MEMORY: Duration = Duration::from_secs(60);

/// Leases are whole milliseconds, rounded up, as keys expire in Redis.
pub(crate) fn whole_millis(lease: Duration) -> Duration {
    match lease.subsec_nanos() % 1_000_000 {
        0 => lease,
        over => lease.saturating_add(Duration::from_nanos(u64::from(1_000_000 - over))),
    }
}

/// How long after it was sent an acquire may take effect: longer than a server takes that is not slow (a slow one says that it
/// comes too late, and the client sends it again), and shorter than a free lock is remembered, which has to know which acquires
/// are to be ignored.
pub(crate) fn validity(response_timeout: Duration) -> Duration {
    (response_timeout + Duration::from_secs(1)).min(LONGEST_MEMORY / 6 * 5)
}

/// When to forget a lock that a hold with this lease leaves free; `None` if it expires soon
/// enough by itself.
pub(crate) fn forget_after(lease: Duration) -> Option<Duration> {
    (lease > LONGEST_MEMORY).then_some(LONGEST_MEMORY)
}
