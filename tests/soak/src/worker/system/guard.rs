//! Whatever a task holds a lock by.

use dlock::{
    CallGuard, FencedMutexGuard, FencingToken, LockKind, LossReason, MutexGuard, ReadGuard,
    WriteGuard,
};

use super::{plain::Owned, why};

/// A lock that is had.
pub(crate) enum Guard {
    Read(ReadGuard),
    Write(WriteGuard),
    Several(CallGuard),
    Mutex(MutexGuard),
    Fenced(FencedMutexGuard),
    Plain(Owned),
    Rslock(rslock::LockGuard),
}

impl Guard {
    /// Nothing for locks that have no tokens.
    pub(crate) fn token(&self) -> Option<u64> {
        let token = match self {
            Self::Read(guard) => guard.fencing_token(),
            Self::Write(guard) => guard.fencing_token(),
            Self::Fenced(guard) => guard.fencing_token(),
            // The attribute gives no token of a plain mutex, so this one means nothing.
            Self::Several(held) if held.key().kind() != LockKind::Mutex => held.fencing_token(),
            Self::Several(_) | Self::Mutex(_) | Self::Plain(_) | Self::Rslock(_) => return None,
        };
        Some(FencingToken::as_u64(token))
    }

    /// Whether its holder is told that it is lost. Some locks never tell.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Read(guard) => guard.check().is_err(),
            Self::Write(guard) => guard.check().is_err(),
            Self::Several(held) => held.check().is_err(),
            Self::Mutex(guard) => guard.check().is_err(),
            Self::Fenced(guard) => guard.check().is_err(),
            Self::Plain(owned) => owned.is_over(),
            Self::Rslock(_) => false,
        }
    }

    pub(crate) async fn lost(&self) -> LossReason {
        match self {
            Self::Read(guard) => guard.lost().await,
            Self::Write(guard) => guard.lost().await,
            Self::Several(held) => held.lost().await,
            Self::Mutex(guard) => guard.lost().await,
            Self::Fenced(guard) => guard.lost().await,
            Self::Plain(_) | Self::Rslock(_) => std::future::pending().await,
        }
    }

    /// Gives it back; how that went.
    pub(crate) async fn release(self) -> String {
        let released = match self {
            Self::Read(guard) => guard.release().await.map_err(|error| why(&error)),
            Self::Write(guard) => guard.release().await.map_err(|error| why(&error)),
            Self::Mutex(guard) => guard.release().await.map_err(|error| why(&error)),
            Self::Fenced(guard) => guard.release().await.map_err(|error| why(&error)),
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
