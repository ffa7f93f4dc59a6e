//! Whatever a task holds a lock by.

use dlock::{FencingToken, LossReason};
use dlock_load::DlockGuard;

use super::{plain::Owned, why};

/// A lock that is held.
pub(crate) enum Guard {
    Dlock(DlockGuard),
    Plain(Owned),
}

impl Guard {
    /// Nothing for locks that have no tokens.
    pub(crate) fn token(&self) -> Option<u64> {
        match self {
            Self::Dlock(guard) => guard.fencing_token().map(FencingToken::as_u64),
            Self::Plain(_) => None,
        }
    }

    /// Whether its holder is told that it is lost. Some locks never tell.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Dlock(guard) => guard.check().is_err(),
            Self::Plain(owned) => owned.is_over(),
        }
    }

    pub(crate) async fn lost(&self) -> LossReason {
        match self {
            Self::Dlock(guard) => guard.lost().await,
            Self::Plain(_) => std::future::pending().await,
        }
    }

    /// Gives it back; how that went.
    pub(crate) async fn release(self) -> String {
        let released = match self {
            Self::Dlock(guard) => guard.release().await.map_err(|error| why(&error)),
            Self::Plain(owned) => owned.release().await,
        };
        released.err().unwrap_or_else(|| "ok".to_owned())
    }
}
