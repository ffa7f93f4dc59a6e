//! One server, and the connection to it that comes back.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::address::Address;
use super::connection::{Connection, NoAnswer};
use super::dial::{Dial, DialFailure, Dialing};
use super::env::Env;
use super::failure::Trouble;
use super::server_time::ServerTime;
use crate::error::Error;
use crate::store::Origin;

/// Names a server within one store, for as long as the store knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// As messages and answers name their sender.
    pub(super) fn origin(self) -> Origin {
        Origin::of(self.0)
    }

    /// Stands for no node at all.
    pub(super) const NOBODY: Self = Self(u32::MAX);
}

/// How long one caller waits for a connection before it looks at the topology again.
const PATIENCE: Duration = Duration::from_millis(250);

/// A server.
pub(super) struct Node {
    id: NodeId,
    address: Address,
    env: Arc<Env>,
    link: ArcSwapOption<Link>,
    pub(super) dial: watch::Sender<Dial>,
    pub(super) time: ServerTime,
    /// Since when no request was answered, in ms after `born`, plus one; 0 while all is well.
    silent_since: AtomicU64,
    born: Instant,
}

/// A connection, with a number to tell it from its successors.
pub(super) struct Link {
    pub(super) serial: u64,
    pub(super) connection: Connection,
}

/// A connection to use for one request.
pub(super) struct Lease {
    pub(super) connection: Connection,
    serial: u64,
}

impl Node {
    pub(super) fn new(address: Address, env: &Arc<Env>) -> Arc<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Arc::new(Self {
            id: NodeId(NEXT.fetch_add(1, Ordering::Relaxed)),
            address,
            env: Arc::clone(env),
            link: ArcSwapOption::empty(),
            dial: watch::Sender::default(),
            time: ServerTime::new(),
            silent_since: AtomicU64::new(0),
            born: Instant::now(),
        })
    }

    pub(super) fn id(&self) -> NodeId {
        self.id
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn env(&self) -> &Arc<Env> {
        &self.env
    }

    pub(super) fn is_connected(&self) -> bool {
        self.link.load().is_some()
    }

    /// The connection, if there is one now.
    pub(super) fn lease(&self) -> Option<Lease> {
        let link = self.link.load();
        let link = link.as_ref()?;
        Some(Lease {
            connection: link.connection.clone(),
            serial: link.serial,
        })
    }

    /// The connection, made if need be; waits a moment for it, at most until `deadline`.
    pub(super) async fn connected(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<Lease, DialFailure> {
        let mut dial = self.dial.subscribe();
        if let Some(lease) = self.lease() {
            return Ok(lease);
        }
        if !self.start_dialing() {
            return Err(DialFailure::Fatal(Error::closed()));
        }
        let patience =
            deadline.min(Instant::now() + self.env.options.connect_timeout.min(PATIENCE));
        // A timeout here only means that there is no news; what is known is told below.
        let _ = timeout_at(patience, dial.changed()).await;
        if let Some(lease) = self.lease() {
            return Ok(lease);
        }
        let failed = dial.borrow().failed.clone();
        Err(failed.unwrap_or_else(|| {
            let slow = io::Error::new(io::ErrorKind::TimedOut, "still connecting");
            DialFailure::Trouble(Trouble::Io(self.address.clone(), slow.into()))
        }))
    }

    /// A request was answered.
    pub(super) fn answered(&self) {
        if self.silent_since.load(Ordering::Relaxed) != 0 {
            self.silent_since.store(0, Ordering::Relaxed);
        }
    }

    /// A request that was sent at `sent` was not answered: gives the connection up if it is to blame, and says
    /// what the trouble is.
    pub(super) fn unanswered(
        self: &Arc<Self>,
        lease: &Lease,
        sent: Instant,
        why: NoAnswer,
    ) -> Trouble {
        let address = self.address.clone();
        match why {
            NoAnswer::Io(error) => {
                self.lost(lease.serial);
                Trouble::Io(address, error)
            }
            NoAnswer::Silence => {
                self.fell_silent(lease, sent);
                Trouble::Silence(address)
            }
        }
    }

    /// Once nothing was answered for the response timeout, whatever the deadlines of the single
    /// requests were, the connection may be dead without knowing.
    fn fell_silent(self: &Arc<Self>, lease: &Lease, sent: Instant) {
        let link = self.link.load();
        if link.as_ref().is_none_or(|link| link.serial != lease.serial) {
            return;
        }
        let millis = |at: Instant| u64::try_from((at - self.born).as_millis()).unwrap_or(u64::MAX);
        let since = match self.silent_since.load(Ordering::Relaxed) {
            0 => millis(sent) + 1,
            since => since,
        };
        self.silent_since.store(since, Ordering::Relaxed);
        let limit = self.env.options.response_timeout.as_millis();
        if u128::from((millis(Instant::now()) + 1).saturating_sub(since)) >= limit {
            self.lost(lease.serial);
        }
    }

    /// Ends the use of connection `serial`, and makes the next one.
    pub(super) fn lost(self: &Arc<Self>, serial: u64) {
        let link = self.link.load_full();
        let Some(link) = link.filter(|link| link.serial == serial) else {
            return;
        };
        let previous = self.link.compare_and_swap(&link, None);
        if previous
            .as_ref()
            .is_some_and(|previous| Arc::ptr_eq(previous, &link))
        {
            self.env.refresh.request();
            self.start_dialing();
        }
    }

    /// Takes a new connection into use.
    pub(super) fn install(&self, link: Link) {
        self.silent_since.store(0, Ordering::Relaxed);
        self.link.store(Some(Arc::new(link)));
    }

    /// Closes the connection, after the store's tasks: no other follows.
    pub(super) fn close(&self) {
        self.link.store(None);
    }

    /// Starts to connect unless that is under way; whether the store is still open.
    fn start_dialing(self: &Arc<Self>) -> bool {
        let mut start = false;
        self.dial.send_if_modified(|dial| {
            dial.wanted = true;
            start = !dial.running;
            dial.running = true;
            false
        });
        if start {
            let dialing = Dialing::new(Arc::clone(self));
            return self.env.tasks.spawn(dialing.run()).is_some();
        }
        true
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("id", &self.id)
            .field("address", &self.address)
            .field("connected", &self.is_connected())
            .finish_non_exhaustive()
    }
}
