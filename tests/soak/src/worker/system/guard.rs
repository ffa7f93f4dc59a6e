//! Whatever a task holds a lock by.

use dlock::{Held, ReadGuard, WriteGuard};

use super::{plain::Owned, why};

/// A lock that is had.
pub(crate) enum Guard {
    Read(ReadGuard),
    Write(WriteGuard),
    Several(Held),
    Plain(Owned),
    Rslock(rslock::LockGuard),
}

impl Guard {
    /// Nothing for locks that have no tokens.
    pub(crate) fn token(&self) -> Option<u64> {
        let token = match self {
            Self::Read(guard) => guard.fencing_token(),
            Self::Write(guard) => guard.fencing_token(),
            Self::Several(held) => held.fencing_token(),
            Self::Plain(_) | Self::Rslock(_) => return None,
        };
        Some(token.as_u64())
    }

    /// Whether its holder is told that it is lost. Some locks never tell.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Read(guard) => guard.check().is_err(),
            Self::Write(guard) => guard.check().is_err(),
            Self::Several(held) => held.check().is_err(),
            Self::Plain(_) | Self::Rslock(_) => false,
        }
    }

    pub(crate) async fn lost(&self) {
        match self {
            Self::Read(guard) => guard.lost().await,
            Self::Write(guard) => guard.lost().await,
            Self::Several(held) => held.lost().await,
            Self::Plain(_) | Self::Rslock(_) => std::future::pending().await,
        }
    }

    /// Gives it back; how that went.
    pub(crate) async fn release(self) -> String {
        let released = match self {
            Self::Read(guard) => guard.release().await.map_err(|error| why(&error)),
            Self::Write(guard) => guard.release().await.map_err(|error| why(&error)),
            // The attribute does that.
            Self::Several(_) => Ok(()),
            Self::Plain(owned) => owned.release().await,
            Self::Rslock(guard) => {
                guard.release().await;
                Ok(())
            }
        };
        released.err().unwrap_or_else(|| "ok".to_owned())
    }
}
