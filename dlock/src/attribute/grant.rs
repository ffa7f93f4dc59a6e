//! A lock that was had, and what happens under it.

use std::sync::Arc;

use super::{Held, Run, context};
use crate::lock::Hold;
use crate::{Client, Error, FencingToken, ReadGuard, WriteGuard};

/// The lock of one call: its own, or that of an outer call which it shares.
///
/// `H` is [`Held`], or an `Option` of it in a function that locks only `when` something is true.
#[derive(Debug)]
#[must_use]
pub struct Grant<H = Held> {
    held: H,
    guard: Option<Guard>,
    cancel: bool,
}

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

    async fn release(self) -> Result<(), Error> {
        match self {
            Self::Read(guard) => guard.release().await,
            Self::Write(guard) => guard.release().await,
        }
    }
}

impl Grant {
    pub(super) fn taken(client: Client, guard: Guard, cancel: bool) -> Self {
        let held = Held::new(client, guard.hold(), guard.token(), context::current());
        Self {
            held,
            guard: Some(guard),
            cancel,
        }
    }

    /// Shares `held`, which its own call releases.
    pub(super) fn reentered(held: Held, cancel: bool) -> Self {
        Self {
            held,
            guard: None,
            cancel,
        }
    }

    /// The same grant in a function that may run without.
    pub fn optional(self) -> Grant<Option<Held>> {
        Grant {
            held: Some(self.held),
            guard: self.guard,
            cancel: self.cancel,
        }
    }
}

impl Grant<Option<Held>> {
    /// No lock at all, as `when = ..` said.
    pub fn unlocked() -> Self {
        Self {
            held: None,
            guard: None,
            cancel: false,
        }
    }
}

impl<H: Clone + Into<Option<Held>>> Grant<H> {
    /// What `guard = name` binds.
    #[must_use]
    pub fn held(&self) -> H {
        self.held.clone()
    }

    /// Runs `body` under the lock and releases it. If the lease is lost the body is dropped,
    /// unless it shall continue.
    pub fn run<F: Future>(self, body: F) -> impl Future<Output = Result<F::Output, Error>> {
        let held = self.held.into();
        let lost = held
            .clone()
            .filter(|_| self.cancel)
            .map(|held: Held| async move {
                loop {
                    held.lost().await;
                    if let Err(error) = held.check() {
                        break error;
                    }
                }
            });
        let release = async move |guard: Guard| {
            // The body has run: what it returned is what counts, and the client records a failed release.
            drop(guard.release().await);
        };
        Run::new(held, lost, body, self.guard, release)
    }
}
