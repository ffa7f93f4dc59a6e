//! How waiters are woken at the moment.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::store::redis::wire::PublishMode;

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

    /// Steps down from `mode`, once, whoever finds out; whether it is this one.
    pub(crate) fn step_down_from(&self, mode: PublishMode) -> bool {
        let (from, to) = (mode as u8, mode.fallback() as u8);
        let stepped = self
            .mode
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
        stepped.is_ok()
    }
}
