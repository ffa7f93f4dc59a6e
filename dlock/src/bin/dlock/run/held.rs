//! A lock held either way.

use std::time::Duration;

use dlock::{Error, ReadGuard, RwLock, WriteGuard};

use crate::args::{Mode, Run};
use crate::exit::{Exit, Failure};

/// The guard.
pub(super) enum Held {
    Read(ReadGuard),
    Write(WriteGuard),
}

impl Held {
    /// Acquires as the command line says.
    pub(super) async fn acquire(lock: &RwLock, args: &Run) -> Result<Self, Failure> {
        let held = match (args.mode, args.wait) {
            (Mode::Read, None) => Some(Self::Read(lock.read().await?)),
            (Mode::Write, None) => Some(Self::Write(lock.write().await?)),
            (Mode::Read, Some(Duration::ZERO)) => lock.try_read().await?.map(Self::Read),
            (Mode::Write, Some(Duration::ZERO)) => lock.try_write().await?.map(Self::Write),
            (Mode::Read, Some(wait)) => Some(Self::Read(lock.read_timeout(wait).await?)),
            (Mode::Write, Some(wait)) => Some(Self::Write(lock.write_timeout(wait).await?)),
        };
        held.ok_or_else(|| {
            let key = &args.key;
            let message = format!("lock `{key}` is held by others; see `dlock inspect {key}`");
            Failure::new(Exit::BUSY, message)
        })
    }

    pub(super) fn token(&self) -> u64 {
        match self {
            Self::Read(guard) => guard.fencing_token().as_u64(),
            Self::Write(guard) => guard.fencing_token().as_u64(),
        }
    }

    fn lease_left(&self) -> Duration {
        match self {
            Self::Read(guard) => guard.lease_left(),
            Self::Write(guard) => guard.lease_left(),
        }
    }

    async fn lost(&self) {
        match self {
            Self::Read(guard) => guard.lost().await,
            Self::Write(guard) => guard.lost().await,
        }
    }

    /// Waits for the first renewal: a lock that another holder passed on lasts only as long as a place
    /// in the line until then, and the command must not start on so little. Fails if it is lost instead.
    pub(super) async fn confirmed(&self, notice: Duration) -> Result<(), Failure> {
        let poll = Duration::from_millis(2);
        loop {
            let left = self.lease_left();
            if left > notice {
                return Ok(());
            }
            if left.is_zero() {
                let message =
                    "the lease was lost before the command could start; it was not started";
                return Err(Failure::new(Exit::LOST, message));
            }
            tokio::time::sleep(poll).await;
        }
    }

    /// Completes when the hold is lost, or when so little of its lease is left that a command
    /// needs to be told now to end in time.
    pub(super) async fn nearly_lost(&self, notice: Duration) {
        loop {
            let Some(calm) = self.lease_left().checked_sub(notice) else {
                return;
            };
            // Renewals move the end, so it is looked at again.
            tokio::select! {
                () = self.lost() => return,
                () = tokio::time::sleep(calm.min(Duration::from_secs(1))) => {}
            }
        }
    }

    pub(super) async fn release(self) -> Result<(), Error> {
        match self {
            Self::Read(guard) => guard.release().await,
            Self::Write(guard) => guard.release().await,
        }
    }
}
