//! The locks that are tried: dlock, and one that shows whether the judges see anything.

mod guard;
mod plain;

use std::time::Duration;

use dlock::Client;
use dlock_load::{Handle, Patience};
use dlock_tests::history::Journal;
use tokio::time::sleep;

pub(super) use self::guard::Guard;
use self::plain::{Care, Plain};
use super::Orders;
use crate::plan::{Kind, LockKind, PREFIX, Plan, key_of, name_as};

/// A client of one of them.
#[derive(Clone)]
pub(super) enum System {
    Dlock(Client),
    Plain(Plain),
}

/// Why a call returned without a lock, as histories have it.
pub(super) type Why = String;

impl System {
    /// Connects; servers may be away for a while.
    pub(super) async fn connect(plan: &Plan, orders: &Orders, journal: &Journal) -> Self {
        let of = &plan.processes[orders.process];
        let lease = Duration::from_millis(of.lease);
        let (url, is_quorum) = (&orders.urls[0], plan.draw.lock == LockKind::Quorum);
        // As what dlock is compared with, it is used as most people do.
        let care = if plan.draw.kind == Kind::Dlock {
            Care::Great
        } else {
            Care::None
        };
        match of.system {
            Kind::Plain => Self::Plain(Plain::new(url, lease, care)),
            Kind::Dlock => loop {
                let builder = if is_quorum {
                    Client::builder().quorum(&orders.urls)
                } else {
                    Client::builder().url(url)
                };
                let built = builder
                    .prefix(PREFIX)
                    .client_name(format!("p{}-{}", orders.process, orders.life))
                    .lease(lease)
                    .linger(Duration::from_millis(of.linger))
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
            Self::Plain(_) => None,
        }
    }

    /// Asks for a lock of this kind.
    pub(super) async fn ask(
        &self,
        (lock, kind): (usize, dlock::LockKind),
        write: bool,
        owner: Option<usize>,
        patience: Patience,
    ) -> Result<Option<Guard>, Why> {
        match self {
            Self::Dlock(client) => {
                let asking = async {
                    let lock = Handle::new(client, (kind, name_as(kind, lock)), owner, None)?;
                    let got = lock.ask(write, patience).await?;
                    Ok(got.map(Guard::Dlock))
                };
                asking.await.map_err(|error: dlock::Error| why(&error))
            }
            Self::Plain(plain) => plain.ask(&key_of(lock), patience).await,
        }
    }

    /// Ends the client; what went wrong, if something did.
    pub(super) async fn shutdown(&self) -> Option<String> {
        let ended = self.client()?.shutdown().await;
        ended.err().map(|error| why(&error))
    }
}

/// An error, as it is counted.
pub(super) fn why(error: &dlock::Error) -> Why {
    format!("{:?}", error.kind())
}
