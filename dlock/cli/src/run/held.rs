//! A lock held either way.

use std::time::Duration;

use dlock::{Error, FencedMutexGuard, FencingToken, MutexGuard, ReadGuard, WriteGuard};

use crate::args::{Mode, Run};
use crate::exit::{Exit, Failure};
use crate::lock::Lock;

/// The guard.
pub(super) enum Held {
    Read(ReadGuard),
    Write(WriteGuard),
    Mutex(MutexGuard),
    Fenced(FencedMutexGuard),
}

/// Acquires for as long as `--wait` says.
macro_rules! acquire {
    ($args:ident, $lock:ident, $for_ever:ident, $at_once:ident, $within:ident, $held:ident) => {
        match $args.wait {
            None => Some($lock.$for_ever().await?),
            Some(Duration::ZERO) => $lock.$at_once().await?,
            Some(wait) => Some($lock.$within(wait).await?),
        }
        .map(Self::$held)
    };
}

/// One expression for each kind of guard.
macro_rules! each {
    ($held:expr, $guard:ident => $do:expr) => {
        match $held {
            Self::Read($guard) => $do,
            Self::Write($guard) => $do,
            Self::Mutex($guard) => $do,
            Self::Fenced($guard) => $do,
        }
    };
}

impl Held {
    /// Acquires as the command line says.
    pub(super) async fn acquire(lock: &Lock, args: &Run) -> Result<Self, Failure> {
        let held = match (lock, args.mode) {
            (Lock::Rw(lock), Mode::Read) => {
                acquire!(args, lock, read, try_read, read_timeout, Read)
            }
            (Lock::Rw(lock), Mode::Write) => {
                acquire!(args, lock, write, try_write, write_timeout, Write)
            }
            (Lock::Mutex(mutex), _) => acquire!(args, mutex, lock, try_lock, lock_timeout, Mutex),
            (Lock::Fenced(mutex), _) => acquire!(args, mutex, lock, try_lock, lock_timeout, Fenced),
        };
        held.ok_or_else(|| {
            let key = &args.key;
            let kind = if args.mutex { "--mutex " } else { "" };
            let message =
                format!("lock `{key}` is held by others; see `dlock inspect {kind}{key}`");
            Failure::new(Exit::BUSY, message)
        })
    }

    /// The fencing token; a plain mutex has none.
    pub(super) fn token(&self) -> Option<FencingToken> {
        match self {
            Self::Read(guard) => Some(guard.fencing_token()),
            Self::Write(guard) => Some(guard.fencing_token()),
            Self::Mutex(_) => None,
            Self::Fenced(guard) => Some(guard.fencing_token()),
        }
    }

    fn lease_left(&self) -> Duration {
        each!(self, guard => guard.lease_left())
    }

    async fn lost(&self) {
        each!(self, guard => guard.lost().await);
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
        each!(self, guard => guard.release().await)
    }
}
