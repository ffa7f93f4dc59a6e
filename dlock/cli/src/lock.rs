//! A lock of any kind.

use std::time::Duration;

use dlock::{Client, Error, FencedMutex, LockInfo, LockKind, Mutex, RwLock};

/// The handle.
#[derive(Debug, Clone)]
pub(crate) enum Lock {
    Rw(RwLock),
    Mutex(Mutex),
    Fenced(FencedMutex),
}

/// What both words on the command line mean.
pub(crate) fn kind(mutex: bool, fenced: bool) -> LockKind {
    match (mutex, fenced) {
        (_, true) => LockKind::FencedMutex,
        (true, false) => LockKind::Mutex,
        (false, false) => LockKind::Rw,
    }
}

impl Lock {
    pub(crate) fn new(client: &Client, kind: LockKind, name: &str) -> Result<Self, Error> {
        Ok(match kind {
            LockKind::Mutex => Self::Mutex(client.mutex(name)?),
            LockKind::FencedMutex => Self::Fenced(client.mutex(name)?.fenced()?),
            _ => Self::Rw(client.rw_lock(name)?),
        })
    }

    pub(crate) fn min_hold(self, min_hold: Duration) -> Self {
        match self {
            Self::Rw(lock) => Self::Rw(lock.min_hold(min_hold)),
            Self::Mutex(mutex) => Self::Mutex(mutex.min_hold(min_hold)),
            Self::Fenced(mutex) => Self::Fenced(mutex.min_hold(min_hold)),
        }
    }

    pub(crate) async fn inspect(&self) -> Result<LockInfo, Error> {
        match self {
            Self::Rw(lock) => lock.inspect().await,
            Self::Mutex(mutex) => mutex.inspect().await,
            Self::Fenced(mutex) => mutex.inspect().await,
        }
    }

    pub(crate) async fn force_release(&self, hold: &str) -> Result<bool, Error> {
        match self {
            Self::Rw(lock) => lock.force_release(hold).await,
            Self::Mutex(mutex) => mutex.force_release(hold).await,
            Self::Fenced(mutex) => mutex.force_release(hold).await,
        }
    }
}
