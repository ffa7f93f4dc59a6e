//! What all locks of one client have in common.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::sync::watch;

use super::gate::Gates;
use crate::clock::{Instant, timeout, timeout_at};
use crate::error::{Error, ErrorKind, TimeoutStep, Written};
use crate::hold::Keeper;
use crate::key::LockKey;
use crate::protocol::{ClientId, HoldId};
use crate::store::{Store, Timeouts};

/// Made and owned by the client; every handle has it.
pub(crate) struct Commons {
    client: ClientId,
    pub(crate) store: Arc<Store>,
    pub(crate) timeouts: Timeouts,
    pub(super) gates: Arc<Gates>,
    pub(super) keeper: Arc<Keeper>,
    acquires: AtomicU64,
    /// Notifies waiters that the client was shut down.
    closed: watch::Sender<bool>,
}

impl Commons {
    /// Starts the background tasks.
    pub(crate) fn start(client: ClientId, store: Store, timeouts: Timeouts) -> Arc<Self> {
        let store = Arc::new(store);
        let gates = Gates::start(&store, timeouts);
        Arc::new(Self {
            client,
            store,
            timeouts,
            keeper: Arc::clone(gates.keeper()),
            gates,
            acquires: AtomicU64::new(1),
            closed: watch::Sender::new(false),
        })
    }

    pub(super) fn next_hold(&self) -> HoldId {
        HoldId::next(&self.client, &self.acquires)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.gates.are_closed()
    }

    /// Whether holds of the lock may linger now.
    pub(super) fn may_linger(&self, key: &LockKey) -> Result<bool, Error> {
        Ok(self.store.tells_holders()? && self.gates.may_linger(key))
    }

    pub(crate) fn check_open(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Err(self.gates.turned_away());
        }
        Ok(())
    }

    /// Completes when the client is drained or shut down, with the error for waiters.
    pub(super) async fn closed(&self) -> Error {
        // The sender is ours, so that waiting cannot fail.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
        self.gates.turned_away()
    }

    fn turn_away(&self, draining: bool) {
        self.gates.close(draining);
        self.closed.send_replace(true);
    }

    /// Turns new callers away, lets holders finish within `patience`, and shuts down.
    pub(crate) async fn drain(&self, patience: Duration) -> Result<(), Error> {
        self.turn_away(true);
        let drained = timeout(patience, self.keeper.nothing_held()).await;
        self.shutdown().await?;
        drained.map_err(|_| {
            Error::new(
                ErrorKind::Timeout(TimeoutStep::Release),
                format!(
                    "some locks were still held {} after the drain had begun, and were given up; give it longer, or bound \
                     what runs under locks with `max_hold`",
                    Written(patience)
                ),
            )
        })
    }

    /// Refuses new calls, releases all holds and ends the background tasks.
    pub(crate) async fn shutdown(&self) -> Result<(), Error> {
        self.turn_away(false);
        let retry_for = self.timeouts.retry_for;
        let deadline = Instant::now() + retry_for;
        self.keeper.stop();
        let flushed = timeout_at(deadline, self.keeper.flush()).await;
        self.store.shutdown().await;
        flushed.map_err(|_| {
            Error::new(
                ErrorKind::Timeout(TimeoutStep::Release),
                format!(
                    "some releases could not be delivered within {}; those locks become free when their leases end",
                    Written(retry_for)
                ),
            )
        })
    }
}

impl fmt::Debug for Commons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commons")
            .field("client", &self.client.as_str())
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
