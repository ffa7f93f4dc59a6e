//! What a task holds a lock by.

use dlock::__internals::ServerToken;
use dlock::{ErrorKind, FencingToken, Held, LossReason, ReadGuard, WriteGuard};

/// Whatever a task holds a lock by.
#[derive(Debug)]
pub(crate) enum Guard {
    Read(ReadGuard),
    Write(WriteGuard),
    Several(Held),
}

impl Guard {
    pub(crate) fn token(&self) -> u64 {
        self.fencing_token().as_u64()
    }

    /// What the server named when it granted the hold, or when a slice of it began.
    pub(super) fn named(&self) -> u64 {
        ServerToken::behind(self.fencing_token()).as_u64()
    }

    fn fencing_token(&self) -> FencingToken {
        match self {
            Self::Read(guard) => guard.fencing_token(),
            Self::Write(guard) => guard.fencing_token(),
            Self::Several(held) => held.fencing_token(),
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Read(guard) => guard.is_lost(),
            Self::Write(guard) => guard.is_lost(),
            Self::Several(held) => held.is_lost(),
        }
    }

    /// Whether its lease has run out. One of several may, while the others are waited for.
    pub(super) fn is_expired(&self) -> bool {
        !matches!(self, Self::Several(_)) && self.is_lost_by(LossReason::Expired)
    }

    /// Whether its client was shut down under it.
    pub(super) fn is_shut_down(&self) -> bool {
        self.is_lost_by(LossReason::Shutdown)
    }

    fn is_lost_by(&self, reason: LossReason) -> bool {
        let checked = match self {
            Self::Read(guard) => guard.check(),
            Self::Write(guard) => guard.check(),
            Self::Several(held) => held.check(),
        };
        checked.is_err_and(|error| error.kind() == ErrorKind::Lost(reason))
    }

    pub(crate) async fn lost(&self) {
        match self {
            Self::Read(guard) => guard.lost().await,
            Self::Write(guard) => guard.lost().await,
            Self::Several(held) => held.lost().await,
        }
    }
}
