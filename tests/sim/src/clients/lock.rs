//! A lock of whichever kind.

use std::time::Duration;

use dlock::{Client, Error, FencedMutex, Mutex, RwLock};

use super::sim::Sim;
use crate::judges::Guard;
use crate::plan::{Op, Patience, ProcessPlan, Setup};

/// A handle with the settings of an operation.
#[derive(Debug)]
pub(super) enum Lock {
    Rw(RwLock),
    Mutex(Mutex),
    Fenced(FencedMutex),
}

impl Lock {
    pub(super) fn of(
        sim: &Sim,
        plan: &ProcessPlan,
        client: &Client,
        op: &Op,
    ) -> Result<Self, Error> {
        let (number, name) = (op.locks[0], Setup::lock(op.locks[0]));
        let min_hold = op.min_hold.map(Duration::from_nanos);
        if !sim.plan.setup.mutexes.has(number) {
            let mut lock = client.rw_lock(name)?;
            if let Some(owner) = op.owner {
                lock = lock.owner(format!("owner-{owner}"));
            }
            return Ok(Self::Rw(match min_hold {
                Some(min_hold) => lock.min_hold(min_hold),
                None => lock,
            }));
        }
        let mut lock = client.mutex(name)?;
        if let Some(min_hold) = min_hold {
            lock = lock.min_hold(min_hold);
        }
        Ok(if plan.fenced {
            Self::Fenced(lock.fenced()?)
        } else {
            Self::Mutex(lock)
        })
    }

    pub(super) async fn ask(
        &self,
        write: bool,
        patience: Patience,
    ) -> Result<Option<Guard>, Error> {
        Ok(match (self, patience) {
            (Self::Rw(lock), patience) => return ask_rw(lock, write, patience).await,
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

async fn ask_rw(lock: &RwLock, write: bool, patience: Patience) -> Result<Option<Guard>, Error> {
    Ok(match (write, patience) {
        (true, Patience::Forever) => Some(Guard::Write(lock.write().await?)),
        (false, Patience::Forever) => Some(Guard::Read(lock.read().await?)),
        (true, Patience::Try) => lock.try_write().await?.map(Guard::Write),
        (false, Patience::Try) => lock.try_read().await?.map(Guard::Read),
        (true, Patience::For(long)) => Some(Guard::Write(
            lock.write_timeout(Duration::from_nanos(long)).await?,
        )),
        (false, Patience::For(long)) => Some(Guard::Read(
            lock.read_timeout(Duration::from_nanos(long)).await?,
        )),
    })
}
