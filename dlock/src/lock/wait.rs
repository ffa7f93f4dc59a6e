//! How long an acquire may wait.

use std::time::Duration;

use tokio::time::Instant;

/// The caller's patience.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    /// Take it or leave it.
    No,
    /// As long as it takes.
    Forever,
    /// Until then; and what the caller called it, for the error.
    Until(Instant, Duration),
}

impl Wait {
    pub(crate) fn within(patience: Duration) -> Self {
        Instant::now()
            .checked_add(patience)
            .map_or(Self::Forever, |until| Self::Until(until, patience))
    }

    pub(crate) fn may_wait(self) -> bool {
        !matches!(self, Self::No)
    }

    /// Whether the caller's patience has come to its end.
    pub(crate) fn is_over(self) -> bool {
        matches!(self, Self::Until(until, _) if until <= Instant::now())
    }

    /// `deadline`, or the caller's if that is sooner.
    pub(crate) fn cap(self, deadline: Instant) -> Instant {
        match self {
            Self::Until(until, _) => until.min(deadline),
            _ => deadline,
        }
    }
}
