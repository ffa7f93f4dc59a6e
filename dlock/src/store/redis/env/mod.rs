//! What everything of one store shares: settings, background tasks, counters, and two signals. Every room above may
//! read it and count, spawn or signal by it; nothing in here knows who does, or talks to a server.

mod options;
mod publishing;
mod refresh;
mod stats;
mod tasks;

pub use options::{Password, RedisOptions};
pub use stats::{Counter, RedisStats};

use self::publishing::CurrentMode;
use self::refresh::RefreshSignal;
use self::tasks::Tasks;
use super::wire::PublishMode;
use crate::protocol::ClientId;

/// Settings, tasks and counters of a store.
#[derive(Debug)]
pub(crate) struct Env {
    pub(crate) options: RedisOptions,
    pub(crate) client: ClientId,
    pub(crate) tasks: Tasks,
    pub(crate) stats: RedisStats,
    pub(crate) refresh: RefreshSignal,
    pub(crate) publish: CurrentMode,
}

impl Env {
    pub(crate) fn new(options: RedisOptions, client: &ClientId) -> Self {
        Self {
            options,
            client: client.clone(),
            tasks: Tasks::new(),
            stats: RedisStats::default(),
            refresh: RefreshSignal::default(),
            publish: CurrentMode::new(PublishMode::Sharded),
        }
    }
}
