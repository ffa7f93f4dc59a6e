//! The locks that are tried: dlock, and those that show whether the judges see anything.

mod guard;
mod plain;
mod rslock;

use std::time::Duration;

use dlock::{Client, RwLock};
use dlock_load::Patience;
use tokio::time::sleep;

pub(super) use self::guard::Guard;
use self::{plain::Plain, rslock::Rslock};
use super::Orders;
use crate::{
    history::Journal,
    plan::{Kind, PREFIX, Plan, key_of, lock_name},
};

/// A client of one of them.
#[derive(Clone)]
pub(super) enum System {
    Dlock(Client),
    Plain(Plain),
    Rslock(Rslock),
}

/// Why a call returned without a lock, as histories have it.
pub(super) type Why = String;

impl System {
    /// Connects; servers may be away for a while.
    pub(super) async fn connect(plan: &Plan, orders: &Orders, journal: &Journal) -> Self {
        let of = &plan.processes[orders.process];
        let lease = Duration::from_millis(of.lease);
        match plan.draw.kind {
            Kind::Plain => Self::Plain(Plain::new(&orders.url, lease)),
            Kind::Rslock => Self::Rslock(Rslock::new(&orders.url, lease)),
            Kind::Dlock => loop {
                let built = Client::builder()
                    .url(&orders.url)
                    .prefix(PREFIX)
                    .name(format!("p{}-{}", orders.process, orders.life))
                    .lease(lease)
                    .response_timeout(Duration::from_millis(of.response_timeout))
                    .retry_for(Duration::from_millis(of.retry_for))
                    .build()
                    .await;
                match built {
                    Ok(client) => return Self::Dlock(client),
                    Err(error) => {
                        journal.tells(format_args!("cannot connect: {error}"));
                        sleep(Duration::from_millis(50)).await;
                    }
                }
            },
        }
    }

    /// The client of dlock, which can do more than the others.
    pub(super) fn client(&self) -> Option<&Client> {
        match self {
            Self::Dlock(client) => Some(client),
            Self::Plain(_) | Self::Rslock(_) => None,
        }
    }

    /// Asks for a lock.
    pub(super) async fn ask(
        &self,
        lock: usize,
        write: bool,
        owner: Option<usize>,
        patience: Patience,
    ) -> Result<Option<Guard>, Why> {
        match self {
            Self::Dlock(client) => {
                let lock = client
                    .rw_lock(lock_name(lock))
                    .map_err(|error| why(&error))?;
                let lock = match owner {
                    Some(owner) => lock.owner(format!("owner-{owner}")),
                    None => lock,
                };
                ask(&lock, write, patience).await
            }
            Self::Plain(plain) => plain.ask(&key_of(lock), patience).await,
            Self::Rslock(rslock) => rslock.ask(&key_of(lock), patience).await,
        }
    }

    /// Ends the client; what went wrong, if something did.
    pub(super) async fn shutdown(&self) -> Option<String> {
        let ended = self.client()?.shutdown().await;
        ended.err().map(|error| why(&error))
    }
}

async fn ask(lock: &RwLock, write: bool, patience: Patience) -> Result<Option<Guard>, Why> {
    let asked = match (write, patience) {
        (true, Patience::Forever) => lock.write().await.map(Guard::Write).map(Some),
        (false, Patience::Forever) => lock.read().await.map(Guard::Read).map(Some),
        (true, Patience::Try) => lock.try_write().await.map(|guard| guard.map(Guard::Write)),
        (false, Patience::Try) => lock.try_read().await.map(|guard| guard.map(Guard::Read)),
        (true, Patience::For(long)) => {
            let asked = lock.write_timeout(Duration::from_nanos(long)).await;
            asked.map(Guard::Write).map(Some)
        }
        (false, Patience::For(long)) => {
            let asked = lock.read_timeout(Duration::from_nanos(long)).await;
            asked.map(Guard::Read).map(Some)
        }
    };
    asked.map_err(|error| why(&error))
}

/// An error, as it is counted.
pub(super) fn why(error: &dlock::Error) -> Why {
    format!("{:?}", error.kind())
}
