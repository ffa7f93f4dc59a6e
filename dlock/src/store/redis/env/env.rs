//! What everything of one store shares: beside the settings and tasks these are the counters of what happened on the way to
//! the servers, what the servers have turned out to be, how waiters are woken at the moment, and the signal for a survey.

use std::fmt;
#[cfg(feature = "tls")]
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::home::{Home, Tasks};
use super::options::RedisOptions;
use crate::metrics::{Redirect, redirected, topology_changed};
use crate::protocol::ClientId;
use crate::store::redis::address::Address;
use crate::store::redis::wire::PublishMode;

/// Settings, tasks and counters of a store.
#[derive(Debug)]
pub(crate) struct Env {
    pub(crate) options: RedisOptions,
    pub(crate) client: ClientId,
    pub(crate) tasks: Tasks,
    pub(crate) home: Home,
    pub(crate) stats: RedisStats,
    pub(crate) refresh: RefreshSignal,
    pub(crate) publish: CurrentMode,
    pub(crate) known: Known,
    #[cfg(feature = "tls")]
    pub(crate) certificates: Arc<super::certificates::Certificates>,
    nodes: AtomicU32,
    numbers: AtomicU64,
}

impl Env {
    pub(crate) fn new(options: RedisOptions, client: &ClientId) -> Self {
        Self {
            #[cfg(feature = "tls")]
            certificates: super::certificates::Certificates::new(&options.trust),
            options,
            client: client.clone(),
            tasks: Tasks::new(),
            home: Home::here(),
            stats: RedisStats::default(),
            refresh: RefreshSignal::default(),
            publish: CurrentMode::new(PublishMode::Sharded),
            known: Known::default(),
            nodes: AtomicU32::new(0),
            numbers: AtomicU64::new(1),
        }
    }

    /// The number of a node that this store hears of for the first time.
    pub(crate) fn next_node(&self) -> u32 {
        self.nodes.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of a connection, to tell it from others of this store.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }
}

/// Recorded for the advice in errors; nothing else uses it.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Whether they are a cluster.
    pub(crate) cluster: OnceLock<bool>,
    /// Whether they have sharded channels.
    pub(crate) sharded: OnceLock<bool>,
}

/// The mode in use, which may step down.
#[derive(Debug)]
pub(crate) struct CurrentMode {
    mode: AtomicU8,
    /// Whether scripts return what the client publishes for them.
    returns: AtomicBool,
}

impl CurrentMode {
    pub(crate) fn new(mode: PublishMode) -> Self {
        Self {
            mode: AtomicU8::new(mode as u8),
            returns: AtomicBool::new(false),
        }
    }

    /// How scripts are told to publish.
    pub(crate) fn letter(&self, is_cluster: bool) -> &'static str {
        if self.returns.load(Ordering::Relaxed) {
            self.get().letter_to_return(is_cluster)
        } else {
            self.get().letter(is_cluster)
        }
    }

    /// Whether scripts publish, so that one that finds a lock taken can tell its holder.
    pub(crate) fn is_left_to_scripts(&self) -> bool {
        self.get() != PublishMode::Off && !self.returns.load(Ordering::Relaxed)
    }

    /// This server lets no script publish.
    pub(crate) fn leave_to_client(&self) {
        self.returns.store(true, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> PublishMode {
        match self.mode.load(Ordering::Relaxed) {
            0 => PublishMode::Sharded,
            1 => PublishMode::Classic,
            _ => PublishMode::Off,
        }
    }

    pub(crate) fn set(&self, mode: PublishMode) {
        self.mode.store(mode as u8, Ordering::Relaxed);
    }

    /// Steps down from `mode`, once; whether this call did.
    pub(crate) fn step_down_from(&self, mode: PublishMode) -> bool {
        let (from, to) = (mode as u8, mode.fallback() as u8);
        let stepped = self
            .mode
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
        stepped.is_ok()
    }
}

/// How other parts ask for a survey.
#[derive(Debug, Default)]
pub(crate) struct RefreshSignal {
    wanted: Notify,
    /// The server that last redirected to the new node of a slot, and so knows more than others.
    informed: Mutex<Option<Address>>,
}

impl RefreshSignal {
    /// Something looked wrong.
    pub(crate) fn request(&self) {
        self.wanted.notify_one();
    }

    /// A server redirected.
    pub(crate) fn request_after_redirect(&self, by: &Address) {
        *self.informed.lock() = Some(by.clone());
        self.request();
    }

    /// Completes when a survey was requested.
    pub(crate) async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// The server that redirected since the last call.
    pub(crate) fn take_informed(&self) -> Option<Address> {
        self.informed.lock().take()
    }
}

/// Counters of one store; they only grow.
#[derive(Debug)]
pub struct RedisStats {
    /// `MOVED` answers.
    pub moved: Counter,
    /// `ASK` answers.
    pub asked: Counter,
    /// `TRYAGAIN`, `CLUSTERDOWN`, `LOADING` and other answers that mean: later.
    pub deferred: Counter,
    /// `READONLY` answers.
    pub read_only: Counter,
    /// `NOSCRIPT` answers.
    pub no_script: Counter,
    /// Requests without an answer: an I/O error or a timeout.
    pub unanswered: Counter,
    /// Connections opened after the first one of a node.
    pub reconnects: Counter,
    /// Changes of the slot map.
    pub topology_changes: Counter,
    /// Channels subscribed again after their connection or their slot was lost.
    pub resubscribed: Counter,
}

impl Default for RedisStats {
    fn default() -> Self {
        Self {
            moved: Counter::reporting(|| redirected(Redirect::Moved)),
            asked: Counter::reporting(|| redirected(Redirect::Ask)),
            deferred: Counter::reporting(|| redirected(Redirect::Later)),
            read_only: Counter::reporting(|| redirected(Redirect::ReadOnly)),
            no_script: Counter::reporting(|| redirected(Redirect::NoScript)),
            unanswered: Counter::reporting(|| redirected(Redirect::Unanswered)),
            reconnects: Counter::default(),
            topology_changes: Counter::reporting(topology_changed),
            resubscribed: Counter::default(),
        }
    }
}

/// A number that only grows.
#[derive(Default)]
pub struct Counter {
    count: AtomicU64,
    /// Tells the metrics, which count for all stores of the process.
    report: Option<fn()>,
}

impl Counter {
    /// The count so far.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    fn reporting(report: fn()) -> Self {
        Self {
            count: AtomicU64::new(0),
            report: Some(report),
        }
    }

    pub(crate) fn count(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
        if let Some(report) = self.report {
            report();
        }
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
