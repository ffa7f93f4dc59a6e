//! How waiters are woken at the moment.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::store::redis::wire::PublishMode;

/// The mode in use, which may step down.
#[derive(Debug)]
pub(crate) struct CurrentMode(AtomicU8);

impl CurrentMode {
    pub(crate) fn new(mode: PublishMode) -> Self {
        Self(AtomicU8::new(mode as u8))
    }

    pub(crate) fn get(&self) -> PublishMode {
        match self.0.load(Ordering::Relaxed) {
            0 => PublishMode::Sharded,
            1 => PublishMode::Classic,
            _ => PublishMode::Off,
        }
    }

    pub(crate) fn set(&self, mode: PublishMode) {
        self.0.store(mode as u8, Ordering::Relaxed);
    }

    /// Steps down from `mode`, once, whoever finds out; whether it is this one.
    pub(crate) fn step_down_from(&self, mode: PublishMode) -> bool {
        let (from, to) = (mode as u8, mode.fallback() as u8);
        let stepped = self
            .0
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
        stepped.is_ok()
    }
}
