//! What all clones of a client share.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::Config;
use super::home::Home;
use crate::error::{Error, ErrorKind, LossReason, Step};
use crate::lock::Gates;
use crate::protocol::{ClientId, HoldId};
use crate::releaser::Releaser;
use crate::renewal::Renewals;
use crate::store::Store;

pub(crate) struct Inner {
    pub(crate) config: Config,
    pub(crate) id: ClientId,
    pub(crate) home: Home,
    pub(crate) store: Arc<Store>,
    pub(crate) gates: Gates,
    pub(crate) renewals: Arc<Renewals>,
    pub(crate) releaser: Releaser,
    counter: AtomicU64,
    /// Set before `closed` tells those who wait: looking at it costs no lock.
    is_closed: AtomicBool,
    closed: watch::Sender<bool>,
}

impl Inner {
    /// Starts the background tasks.
    pub(crate) fn start(config: Config, id: ClientId, store: Store) -> Arc<Self> {
        let store = Arc::new(store);
        let releaser = Releaser::start(Arc::clone(&store), config.response_timeout);
        Arc::new_cyclic(|client| {
            let renewals = Renewals::start(
                Weak::clone(client),
                Arc::clone(&store),
                releaser.queue(),
                config.response_timeout,
            );
            Self {
                config,
                id,
                home: Home::current(),
                store,
                gates: Gates::new(),
                renewals,
                releaser,
                counter: AtomicU64::new(1),
                is_closed: AtomicBool::new(false),
                closed: watch::Sender::new(false),
            }
        })
    }

    pub(crate) fn next_hold(&self) -> HoldId {
        HoldId::next(&self.id, &self.counter)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    pub(crate) fn check_open(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Err(Error::closed());
        }
        Ok(())
    }

    /// Completes when the client is shut down.
    pub(crate) async fn closed(&self) {
        // The sender is ours, so that waiting cannot fail.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    pub(crate) async fn shutdown(&self) -> Result<(), Error> {
        self.is_closed.store(true, Ordering::Release);
        self.closed.send_replace(true);
        self.gates.close();
        let deadline = Instant::now() + self.config.retry_for;
        self.renewals.stop(LossReason::Shutdown);
        let flushed = timeout_at(deadline, self.releaser.flush()).await;
        self.store.shutdown().await;
        flushed.map_err(|_| {
            Error::new(
                ErrorKind::Timeout(Step::Release),
                format!(
                    "some releases could not be delivered within {:?}; those locks become free \
                     when their leases end",
                    self.config.retry_for
                ),
            )
        })
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("id", &self.id.as_str())
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Handles and guards are gone, so nothing is held any more.
        self.renewals.stop(LossReason::Shutdown);
    }
}
