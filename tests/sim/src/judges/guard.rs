//! What a task holds a lock by.

use std::cell::Cell;
use std::rc::Rc;

use dlock::__internals::{BootInstant, ServerToken};
use dlock::{ErrorKind, FencingToken, LossReason};
use dlock_load::DlockGuard;

/// Whatever a task holds a lock by.
#[derive(Debug)]
pub(crate) enum Guard {
    Dlock(DlockGuard),
    /// Without dlock, until its time is over by the clock of the process that has it.
    Foreign(Until),
}

/// A time that may be put off.
pub(crate) type Until = Rc<Cell<BootInstant>>;

impl Guard {
    /// Its token, if it has one.
    pub(crate) fn token(&self) -> Option<u64> {
        self.fencing_token().map(FencingToken::as_u64)
    }

    /// What the server named when it granted the hold, or when a slice of it began.
    pub(super) fn named(&self) -> Option<u64> {
        let token = self.fencing_token()?;
        Some(ServerToken::behind(token).as_u64())
    }

    fn fencing_token(&self) -> Option<FencingToken> {
        match self {
            Self::Dlock(guard) => guard.fencing_token(),
            Self::Foreign(_) => None,
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Dlock(guard) => guard.check().is_err(),
            Self::Foreign(until) => BootInstant::now() >= until.get(),
        }
    }

    pub(super) fn is_one_of_several(&self) -> bool {
        matches!(self, Self::Dlock(DlockGuard::Several(_)))
    }

    /// Whether its lease has run out. One of several may, while the others are waited for.
    pub(super) fn is_expired(&self) -> bool {
        !self.is_one_of_several() && self.is_lost_by(LossReason::Expired)
    }

    /// Whether its client was shut down under it.
    pub(super) fn is_shut_down(&self) -> bool {
        self.is_lost_by(LossReason::Shutdown)
    }

    fn is_lost_by(&self, reason: LossReason) -> bool {
        let Self::Dlock(guard) = self else {
            return false;
        };
        let checked = guard.check();
        checked.is_err_and(|error| error.kind() == ErrorKind::Lost(reason))
    }

    pub(crate) async fn lost(&self) -> LossReason {
        match self {
            Self::Dlock(guard) => guard.lost().await,
            Self::Foreign(_) => std::future::pending().await,
        }
    }
}
