//! How waiters are woken.

use std::sync::atomic::{AtomicU8, Ordering};

/// The kind of pub/sub that the servers offer and this user may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PublishMode {
    /// Within the shard of the lock: Redis 7 and later.
    Sharded,
    /// Through the whole cluster.
    Classic,
    /// Not at all: waiters poll.
    Off,
}

impl PublishMode {
    /// The command that publishes.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Sharded => "SPUBLISH",
            Self::Classic => "PUBLISH",
            Self::Off => "",
        }
    }

    /// How scripts are told to publish. Classic messages reach the whole cluster, but their count of receivers is that
    /// of one node.
    pub(crate) fn letter(self, is_cluster: bool) -> &'static str {
        match self {
            Self::Sharded => "S",
            Self::Classic if is_cluster => "L",
            Self::Classic => "P",
            Self::Off => "",
        }
    }

    /// The next best kind.
    pub(crate) fn fallback(self) -> Self {
        match self {
            Self::Sharded => Self::Classic,
            Self::Classic | Self::Off => Self::Off,
        }
    }
}

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

    /// Steps down from `mode`, once, whoever finds out.
    pub(crate) fn step_down_from(&self, mode: PublishMode) {
        let (from, to) = (mode as u8, mode.fallback() as u8);
        let _ = self
            .0
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }
}
