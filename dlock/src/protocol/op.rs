//! The operations on one lock.

use std::sync::Arc;
use std::time::Duration;

use super::HoldId;
use crate::mode::Mode;
use crate::token::FencingToken;

/// One operation. Each is one round trip, and sending it twice has the effect of once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Take the lock, or a place in its line.
    Acquire {
        /// The id of this acquisition.
        hold: HoldId,
        /// Read or write.
        mode: Mode,
        /// How long the hold lasts without a renewal.
        lease: Duration,
        /// Whose hold it is, for re-entry; `None` stands for this hold alone.
        owner: Option<Arc<str>>,
        /// Queue when the lock is not free, and keep the place for this long.
        queue: Option<Duration>,
    },
    /// Give a hold back.
    Release {
        /// The acquisition to give back.
        hold: HoldId,
        /// The last token handed out under it without asking, if any was.
        handed: Option<FencingToken>,
        /// How long it would have lasted.
        lease: Duration,
    },
    /// Extend a hold.
    Renew {
        /// The acquisition to extend.
        hold: HoldId,
        /// How long it lasts from now.
        lease: Duration,
    },
    /// Undo an acquire, whatever became of it.
    Abandon {
        /// The acquisition to undo.
        hold: HoldId,
    },
    /// Let the line in if anybody waits, otherwise carry on with a fresh token.
    Yield {
        /// The acquisition that may go on.
        hold: HoldId,
        /// The last token handed out under it without asking, if any was.
        handed: Option<FencingToken>,
        /// How long it lasts from now if it goes on.
        lease: Duration,
    },
    /// Read the state of the lock.
    Inspect,
}

impl Op {
    /// The names of all operations.
    pub const NAMES: [&'static str; 6] =
        ["acquire", "release", "renew", "abandon", "yield", "inspect"];

    /// The operation's name, as in metric labels.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Acquire { .. } => "acquire",
            Self::Release { .. } => "release",
            Self::Renew { .. } => "renew",
            Self::Abandon { .. } => "abandon",
            Self::Yield { .. } => "yield",
            Self::Inspect => "inspect",
        }
    }

    /// Whether this may let somebody in who waits.
    #[must_use]
    pub fn passes_on(&self) -> bool {
        matches!(
            self,
            Self::Release { .. } | Self::Yield { .. } | Self::Abandon { .. }
        )
    }
}
