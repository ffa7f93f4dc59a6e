//! What the handles of all kinds of locks have in common.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::Commons;
use super::acquire::acquire;
use super::gate::Share;
use super::settings::Settings;
use super::waiting::Wait;
use crate::error::Error;
use crate::key::LockKey;
use crate::metrics::{self, LockMetrics};
use crate::mode::LockMode;

/// One lock, and how it is to be held.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    pub(super) commons: Arc<Commons>,
    pub(super) key: LockKey,
    pub(super) settings: Settings,
    metrics: OnceLock<Arc<LockMetrics>>,
}

impl Handle {
    pub(crate) fn new(commons: Arc<Commons>, key: LockKey, settings: Settings) -> Self {
        Self {
            commons,
            key,
            settings,
            metrics: OnceLock::new(),
        }
    }

    /// Looked up when first needed, so that a label that is replaced never shows.
    pub(super) fn metrics(&self) -> &Arc<LockMetrics> {
        let kind = self.key.kind();
        self.metrics
            .get_or_init(|| metrics::for_label(&self.settings.label, kind))
    }

    /// Another lock with these settings.
    pub(super) fn for_key(self, key: LockKey) -> Self {
        Self::new(self.commons, key, self.settings)
    }

    pub(crate) fn key(&self) -> &LockKey {
        &self.key
    }

    pub(crate) fn lease(mut self, lease: Duration) -> Self {
        self.settings.lease = lease;
        self
    }

    pub(crate) fn max_hold(mut self, max_hold: Duration) -> Self {
        self.settings.max_hold = Some(max_hold);
        self
    }

    pub(crate) fn min_hold(mut self, min_hold: Duration) -> Self {
        self.settings.min_hold = Some(min_hold);
        self
    }

    pub(crate) fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.settings.label = label.into().into();
        self.metrics = OnceLock::new();
        self
    }

    /// Acquires. `None` if the lock is not free and the caller does not wait.
    pub(crate) async fn acquire(&self, mode: LockMode, wait: Wait) -> Result<Option<Share>, Error> {
        acquire(self, mode, wait).await
    }

    /// Acquires with a wait, so that there is never nothing.
    pub(super) async fn always(&self, mode: LockMode, wait: Wait) -> Result<Share, Error> {
        let share = acquire(self, mode, wait).await?;
        share.ok_or_else(|| Error::unexpected_reply(self.key.name()))
    }
}
