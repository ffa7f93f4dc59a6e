//! How long an acquire may wait.

use std::time::Duration;

use crate::clock::Instant;

/// The caller's patience.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    /// Take it or leave it.
    No,
    /// As long as it takes.
    Forever,
    /// This long, once it has begun.
    For(Duration),
    /// Until then; and what the caller called it, for the error.
    Until(Instant, Duration),
}

impl Wait {
    /// The time begins to run, unless it does already.
    #[inline]
    pub(crate) fn begin(self) -> Self {
        match self {
            Self::For(patience) => Instant::now()
                .checked_add(patience)
                .map_or(Self::Forever, |until| Self::Until(until, patience)),
            begun => begun,
        }
    }

    pub(crate) fn may_wait(self) -> bool {
        !matches!(self, Self::No)
    }

    /// Whether the caller's patience has come to its end.
    pub(super) fn is_over(self) -> bool {
        matches!(self, Self::Until(until, _) if until <= Instant::now())
    }

    /// `deadline`, or the caller's if that is sooner.
    pub(super) fn cap(self, deadline: Instant) -> Instant {
        match self {
            Self::Until(until, _) => until.min(deadline),
            _ => deadline,
        }
    }
}
