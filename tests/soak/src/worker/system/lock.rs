//! A lock of dlock's, of whichever kind.

use std::time::Duration;

use dlock::{Client, Error, FencedMutex, LockKind, Mutex, RwLock};
use dlock_load::Patience;

use super::Guard;
use crate::plan::name_as;

/// A handle with the settings of an operation.
pub(super) enum Lock {
    Rw(RwLock),
    Mutex(Mutex),
    Fenced(FencedMutex),
}

impl Lock {
    pub(super) fn of(
        client: &Client,
        kind: LockKind,
        number: usize,
        owner: Option<usize>,
    ) -> Result<Self, Error> {
        let name = name_as(kind, number);
        Ok(match (kind, owner) {
            (LockKind::Rw, None) => Self::Rw(client.rw_lock(name)?),
            (LockKind::Rw, Some(owner)) => {
                let lock = client.rw_lock(name)?;
                Self::Rw(lock.owner(format!("owner-{owner}")))
            }
            (LockKind::FencedMutex, _) => Self::Fenced(client.mutex(name)?.fenced()?),
            _ => Self::Mutex(client.mutex(name)?),
        })
    }

    pub(super) async fn ask(
        &self,
        write: bool,
        patience: Patience,
    ) -> Result<Option<Guard>, Error> {
        Ok(match (self, patience) {
            (Self::Rw(lock), patience) => return ask(lock, write, patience).await,
            (Self::Mutex(lock), Patience::Forever) => Some(Guard::Mutex(lock.lock().await?)),
            (Self::Mutex(lock), Patience::Try) => lock.try_lock().await?.map(Guard::Mutex),
            (Self::Mutex(lock), Patience::For(long)) => {
                let long = Duration::from_nanos(long);
                Some(Guard::Mutex(lock.lock_timeout(long).await?))
            }
            (Self::Fenced(lock), Patience::Forever) => Some(Guard::Fenced(lock.lock().await?)),
            (Self::Fenced(lock), Patience::Try) => lock.try_lock().await?.map(Guard::Fenced),
            (Self::Fenced(lock), Patience::For(long)) => {
                let long = Duration::from_nanos(long);
                Some(Guard::Fenced(lock.lock_timeout(long).await?))
            }
        })
    }
}

async fn ask(lock: &RwLock, write: bool, patience: Patience) -> Result<Option<Guard>, Error> {
    Ok(match (write, patience) {
        (true, Patience::Forever) => Some(Guard::Write(lock.write().await?)),
        (false, Patience::Forever) => Some(Guard::Read(lock.read().await?)),
        (true, Patience::Try) => lock.try_write().await?.map(Guard::Write),
        (false, Patience::Try) => lock.try_read().await?.map(Guard::Read),
        (true, Patience::For(long)) => {
            let long = Duration::from_nanos(long);
            Some(Guard::Write(lock.write_timeout(long).await?))
        }
        (false, Patience::For(long)) => {
            let long = Duration::from_nanos(long);
            Some(Guard::Read(lock.read_timeout(long).await?))
        }
    })
}
