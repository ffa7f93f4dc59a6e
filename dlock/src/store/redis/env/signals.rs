//! What the servers have turned out to be, how waiters are woken at the moment, and the signal for a survey of the servers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::store::redis::address::Address;
use crate::store::redis::wire::PublishMode;

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
