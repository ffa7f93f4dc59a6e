//! What everything of one store shares.

use super::options::RedisOptions;
use super::refresher::RefreshSignal;
use super::stats::RedisStats;
use super::tasks::Tasks;
use super::wire::{CurrentMode, PublishMode};
use crate::protocol::ClientId;

/// Settings, tasks and counters of a store.
#[derive(Debug)]
pub(super) struct Env {
    pub(super) options: RedisOptions,
    pub(super) client: ClientId,
    pub(super) tasks: Tasks,
    pub(super) stats: RedisStats,
    pub(super) refresh: RefreshSignal,
    pub(super) publish: CurrentMode,
}

impl Env {
    pub(super) fn new(options: RedisOptions, client: &ClientId) -> Self {
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
