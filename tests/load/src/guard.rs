//! What a task holds a lock of dlock's by.

use std::time::Duration;

use dlock::{
    CallGuard, Error, FencedMutexGuard, FencingToken, LossReason, MutexGuard, ReadGuard, WriteGuard,
};

/// A guard of any kind.
#[derive(Debug)]
#[must_use = "dropping it gives the lock back"]
pub enum DlockGuard {
    /// A reader's.
    Read(ReadGuard),
    /// A writer's.
    Write(WriteGuard),
    /// A lock that the attribute has taken together with others.
    Several(CallGuard),
    /// A mutex without tokens.
    Mutex(MutexGuard),
    /// A mutex with tokens.
    Fenced(FencedMutexGuard),
}

impl DlockGuard {
    /// Nothing for locks that have no tokens.
    #[must_use]
    pub fn fencing_token(&self) -> Option<FencingToken> {
        match self {
            Self::Read(guard) => Some(guard.fencing_token()),
            Self::Write(guard) => Some(guard.fencing_token()),
            // The attribute gives no token of a plain mutex, so that one means nothing.
            Self::Several(held) => {
                let has_tokens = held.key().kind().has_tokens();
                has_tokens.then(|| held.fencing_token())
            }
            Self::Fenced(guard) => Some(guard.fencing_token()),
            Self::Mutex(_) => None,
        }
    }

    /// Whether the lock is still held.
    ///
    /// # Errors
    /// Why it is lost.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Self::Read(guard) => guard.check(),
            Self::Write(guard) => guard.check(),
            Self::Several(held) => held.check(),
            Self::Mutex(guard) => guard.check(),
            Self::Fenced(guard) => guard.check(),
        }
    }

    /// How long this process may still rely on the lock if no renewal succeeds; zero if it is lost.
    #[must_use]
    pub fn lease_left(&self) -> Duration {
        match self {
            Self::Read(guard) => guard.lease_left(),
            Self::Write(guard) => guard.lease_left(),
            Self::Several(held) => held.lease_left(),
            Self::Mutex(guard) => guard.lease_left(),
            Self::Fenced(guard) => guard.lease_left(),
        }
    }

    /// Completes when the lock is lost.
    pub async fn lost(&self) -> LossReason {
        match self {
            Self::Read(guard) => guard.lost().await,
            Self::Write(guard) => guard.lost().await,
            Self::Several(held) => held.lost().await,
            Self::Mutex(guard) => guard.lost().await,
            Self::Fenced(guard) => guard.lost().await,
        }
    }

    /// Gives the lock back. The attribute does that with several.
    ///
    /// # Errors
    /// The errors of the lock's own release.
    pub async fn release(self) -> Result<(), Error> {
        match self {
            Self::Read(guard) => guard.release().await,
            Self::Write(guard) => guard.release().await,
            Self::Several(_) => Ok(()),
            Self::Mutex(guard) => guard.release().await,
            Self::Fenced(guard) => guard.release().await,
        }
    }
}
