//! What everything of one store shares: settings, background tasks, counters, and two signals. Every room above may
//! read it and count, spawn or signal with it. Nothing in here knows its callers, or talks to a server.

#[cfg(feature = "tls")]
mod certificates;
mod home;
mod options;
mod signals;
mod stats;

pub use options::{Password, Pem, RedisOptions, Trust};
pub use stats::{Counter, RedisStats};

#[cfg(feature = "tls")]
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use self::home::{Home, Tasks};
use self::signals::{CurrentMode, Known, RefreshSignal};
use super::wire::PublishMode;
use crate::protocol::ClientId;

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
    pub(crate) certificates: Arc<self::certificates::Certificates>,
    nodes: AtomicU32,
    numbers: AtomicU64,
}

impl Env {
    pub(crate) fn new(options: RedisOptions, client: &ClientId) -> Self {
        Self {
            #[cfg(feature = "tls")]
            certificates: self::certificates::Certificates::new(&options.trust),
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
