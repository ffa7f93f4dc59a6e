//! A lock of any kind, and how a task asks for it.

use std::time::Duration;

use dlock::{Client, Error, FencedMutex, LockKind, Mutex, RwLock};

use crate::{DlockGuard, Nanos, Patience};

/// A handle with the settings of an operation.
#[derive(Debug)]
pub enum Handle {
    /// A read/write lock.
    Rw(RwLock),
    /// A mutex without tokens.
    Mutex(Mutex),
    /// A mutex with tokens.
    Fenced(FencedMutex),
}

impl Handle {
    /// A lock of this kind and name. Only read/write locks have owners.
    ///
    /// # Errors
    /// As for the names given to a client.
    pub fn new(
        client: &Client,
        (kind, name): (LockKind, String),
        owner: Option<usize>,
        min_hold: Option<Nanos>,
    ) -> Result<Self, Error> {
        let min_hold = min_hold.map(Duration::from_nanos);
        if kind == LockKind::Rw {
            let mut lock = client.rw_lock(name)?;
            if let Some(owner) = owner {
                lock = lock.owner(format!("owner-{owner}"));
            }
            if let Some(min_hold) = min_hold {
                lock = lock.min_hold(min_hold);
            }
            return Ok(Self::Rw(lock));
        }
        let mut lock = client.mutex(name)?;
        if let Some(min_hold) = min_hold {
            lock = lock.min_hold(min_hold);
        }
        Ok(match kind {
            LockKind::FencedMutex => Self::Fenced(lock.fenced()?),
            _ => Self::Mutex(lock),
        })
    }

    /// Keeps a read/write lock for the next task, for so long after the last one. Not for those with an owner or a `min_hold`.
    #[must_use]
    pub fn linger(self, linger: Option<Nanos>) -> Self {
        match (self, linger.map(Duration::from_nanos)) {
            (Self::Rw(lock), Some(linger)) => Self::Rw(lock.linger(linger)),
            (lock, _) => lock,
        }
    }

    /// Asks for the lock; nothing if it is not had in time.
    ///
    /// # Errors
    /// The errors of the lock's own acquire.
    pub async fn ask(&self, write: bool, patience: Patience) -> Result<Option<DlockGuard>, Error> {
        Ok(match (self, patience) {
            (Self::Rw(lock), patience) => return ask_rw(lock, write, patience).await,
            (Self::Mutex(lock), Patience::Forever) => Some(DlockGuard::Mutex(lock.lock().await?)),
            (Self::Mutex(lock), Patience::Try) => lock.try_lock().await?.map(DlockGuard::Mutex),
            (Self::Mutex(lock), Patience::For(long)) => {
                let long = Duration::from_nanos(long);
                Some(DlockGuard::Mutex(lock.lock_timeout(long).await?))
            }
            (Self::Fenced(lock), Patience::Forever) => Some(DlockGuard::Fenced(lock.lock().await?)),
            (Self::Fenced(lock), Patience::Try) => lock.try_lock().await?.map(DlockGuard::Fenced),
            (Self::Fenced(lock), Patience::For(long)) => {
                let long = Duration::from_nanos(long);
                Some(DlockGuard::Fenced(lock.lock_timeout(long).await?))
            }
        })
    }
}

async fn ask_rw(
    lock: &RwLock,
    write: bool,
    patience: Patience,
) -> Result<Option<DlockGuard>, Error> {
    Ok(match (write, patience) {
        (true, Patience::Forever) => Some(DlockGuard::Write(lock.write().await?)),
        (false, Patience::Forever) => Some(DlockGuard::Read(lock.read().await?)),
        (true, Patience::Try) => lock.try_write().await?.map(DlockGuard::Write),
        (false, Patience::Try) => lock.try_read().await?.map(DlockGuard::Read),
        (true, Patience::For(long)) => {
            let long = Duration::from_nanos(long);
            Some(DlockGuard::Write(lock.write_timeout(long).await?))
        }
        (false, Patience::For(long)) => {
            let long = Duration::from_nanos(long);
            Some(DlockGuard::Read(lock.read_timeout(long).await?))
        }
    })
}
