//! The guards of one call.

use std::sync::Arc;

use futures_util::future::join_all;

use super::Held;
use crate::hold::Hold;
use crate::{Client, Error, FencingToken, ReadGuard, WriteGuard};

/// A guard of either mode.
#[derive(Debug)]
pub(super) enum Guard {
    Read(ReadGuard),
    Write(WriteGuard),
}

impl From<ReadGuard> for Guard {
    fn from(guard: ReadGuard) -> Self {
        Self::Read(guard)
    }
}

impl From<WriteGuard> for Guard {
    fn from(guard: WriteGuard) -> Self {
        Self::Write(guard)
    }
}

impl Guard {
    fn hold(&self) -> Arc<Hold> {
        match self {
            Self::Read(guard) => guard.share_hold(),
            Self::Write(guard) => guard.share_hold(),
        }
    }

    fn token(&self) -> FencingToken {
        match self {
            Self::Read(guard) => guard.fencing_token(),
            Self::Write(guard) => guard.fencing_token(),
        }
    }

    pub(super) async fn release(self) -> Result<(), Error> {
        match self {
            Self::Read(guard) => guard.release().await,
            Self::Write(guard) => guard.release().await,
        }
    }
}

/// A guard that tells whoever still looks at it when it goes.
#[derive(Debug)]
pub(super) struct Owned {
    held: Held,
    guard: Option<Guard>,
}

impl Owned {
    pub(super) fn new(client: &Client, guard: Guard, outer: Option<Held>) -> Self {
        Self {
            held: Held::new(client.clone(), guard.hold(), guard.token(), outer),
            guard: Some(guard),
        }
    }

    pub(super) fn held(&self) -> &Held {
        &self.held
    }

    async fn release(mut self) {
        self.held.end();
        if let Some(guard) = self.guard.take() {
            // The body has run: what it returned is what counts, and the client records a failed release.
            drop(guard.release().await);
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.held.end();
    }
}

/// What a call has to give back: nothing if it entered a lock again, more than one with `keys`.
#[derive(Debug, Default)]
pub(super) struct OwnedLocks {
    first: Option<Owned>,
    more: Vec<Owned>,
}

impl OwnedLocks {
    pub(super) fn push(&mut self, owned: Owned) {
        if self.first.is_none() {
            self.first = Some(owned);
        } else {
            self.more.push(owned);
        }
    }

    pub(super) async fn release(self) {
        match self.first {
            Some(only) if self.more.is_empty() => only.release().await,
            first => {
                let all = first.into_iter().chain(self.more);
                join_all(all.map(Owned::release)).await;
            }
        }
    }
}
