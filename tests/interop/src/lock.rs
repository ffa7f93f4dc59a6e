//! dlock's mutex, with or without fencing tokens.

use std::time::Duration;

use dlock::{Client, Error, FencedMutex, FencedMutexGuard, Mutex, MutexGuard};

/// The mutex.
pub(crate) enum Lock {
    Plain(Mutex),
    Fenced(FencedMutex),
}

/// A hold.
pub(crate) enum Hold {
    Plain(MutexGuard),
    Fenced(FencedMutexGuard),
}

impl Lock {
    pub(crate) fn new(client: &Client, key: &str, fenced: bool) -> Result<Self, Error> {
        let mutex = client.mutex(key)?;
        if fenced {
            return mutex.fenced().map(Self::Fenced);
        }
        Ok(Self::Plain(mutex))
    }

    pub(crate) async fn lock(&self) -> Result<Hold, Error> {
        match self {
            Self::Plain(mutex) => mutex.lock().await.map(Hold::Plain),
            Self::Fenced(mutex) => mutex.lock().await.map(Hold::Fenced),
        }
    }
}

impl Hold {
    pub(crate) fn fence(&self) -> Option<u64> {
        match self {
            Self::Plain(_) => None,
            Self::Fenced(guard) => Some(guard.fencing_token().as_u64()),
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Plain(guard) => guard.check().is_err(),
            Self::Fenced(guard) => guard.check().is_err(),
        }
    }

    pub(crate) fn lease_left(&self) -> Duration {
        match self {
            Self::Plain(guard) => guard.lease_left(),
            Self::Fenced(guard) => guard.lease_left(),
        }
    }

    pub(crate) async fn release(self) -> Result<(), Error> {
        match self {
            Self::Plain(guard) => guard.release().await,
            Self::Fenced(guard) => guard.release().await,
        }
    }
}
