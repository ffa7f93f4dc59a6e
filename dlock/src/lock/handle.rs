//! The handle that all kinds of locks have: one lock, the settings that it was given, and what operators do with it.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ::metrics::SharedString;

use super::Commons;
use crate::clock::Instant;
use crate::error::{Error, ErrorKind};
use crate::hold::Terms;
use crate::key::LockKey;
use crate::kind::{LockKind, LockMode};
use crate::lease::{Millis, check_lease, check_linger, check_min_hold};
use crate::metrics::{self, LockMetrics};
use crate::protocol::{HoldId, LockInfo, Op, Reply};

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
        self.settings.min_hold = Millis::of(min_hold);
        self
    }

    pub(crate) fn linger(mut self, linger: Duration) -> Self {
        self.settings.linger = Millis::of(linger);
        self.settings.inherits_linger = false;
        self
    }

    pub(crate) fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.settings.label = label.into().into();
        self.metrics = OnceLock::new();
        self
    }

    pub(super) async fn inspect(&self) -> Result<LockInfo, Error> {
        let info = self.ask_info().await;
        info.inspect_err(metrics::failed)
    }

    async fn ask_info(&self) -> Result<LockInfo, Error> {
        self.commons.check_open()?;
        let deadline = || Instant::now() + self.commons.timeouts.retry_for;
        let answer = self.commons.store.call(&self.key, &Op::Inspect, deadline);
        match answer.await?.reply {
            Reply::Info(mut info) => {
                if !self.key.kind().has_tokens() {
                    // The line used this token for itself; no holder has it.
                    info.last_token = None;
                }
                Ok(info)
            }
            _ => Err(Error::unexpected_reply(self.key.name())),
        }
    }

    pub(super) async fn force_release(&self, hold_id: &str) -> Result<bool, Error> {
        self.end_hold(hold_id).await.inspect_err(metrics::failed)
    }

    async fn end_hold(&self, hold_id: &str) -> Result<bool, Error> {
        self.commons.check_open()?;
        let hold = HoldId::parse(hold_id).filter(|_| HoldId::is_one(hold_id));
        let hold = hold.ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidKey,
                format!(
                    "`{hold_id}` is no hold id; take one from `inspect`, such as \
                     `web-1:4711/8f3a5c0d9e2b7146/1a`"
                ),
            )
        })?;
        let lease = self.settings.lease;
        self.commons
            .keeper
            .force_release(&self.key, hold, lease)
            .await
    }
}

/// The longest owner name, in bytes.
const MAX_OWNER_BYTES: usize = 256;

/// Per-lock settings; checked when the lock is acquired.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(super) lease: Duration,
    pub(super) max_hold: Option<Duration>,
    min_hold: Option<Millis>,
    linger: Option<Millis>,
    /// Whether the client was told, and not the handle.
    inherits_linger: bool,
    pub(super) label: SharedString,
    pub(super) owner: Option<Arc<str>>,
}

impl Settings {
    pub(crate) fn new(lease: Duration, max_hold: Option<Duration>, linger: Option<Millis>) -> Self {
        Self {
            lease,
            max_hold,
            min_hold: None,
            linger,
            inherits_linger: true,
            label: SharedString::const_str("unnamed"),
            owner: None,
        }
    }

    pub(super) fn terms(&self, kind: LockKind, mode: LockMode) -> Terms {
        Terms {
            kind,
            mode,
            lease: self.lease,
            max_hold: self.max_hold,
            min_hold: self.min_hold,
            linger: None,
        }
    }

    /// For how long holds linger: as the handle was told, or as the client was, unless that contradicts another setting of the handle.
    pub(super) fn lingers(&self) -> Option<Millis> {
        let contradicts = self.owner.is_some() || self.min_hold.is_some();
        self.linger
            .filter(|_| !(self.inherits_linger && contradicts))
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        check_lease(self.lease, self.max_hold)?;
        if let Some(min_hold) = self.min_hold {
            check_min_hold(min_hold, self.max_hold)?;
        }
        if let Some(linger) = self.linger {
            check_linger(linger)?;
            self.contradict_linger()?;
        }
        match &self.owner {
            Some(owner) if owner.is_empty() || owner.len() > MAX_OWNER_BYTES => Err(Error::new(
                ErrorKind::InvalidConfig,
                format!("owner `{owner}` must have 1 to {MAX_OWNER_BYTES} bytes"),
            )),
            // A hold that has ended would still belong to the owner, who could go past the line with it.
            Some(_) if self.min_hold.is_some() => Err(Error::new(
                ErrorKind::InvalidConfig,
                "`owner` allows re-entry and `min_hold` forbids it; omit one of the two",
            )),
            _ => Ok(()),
        }
    }

    /// Whether another setting of the handle contradicts that holds linger.
    fn contradict_linger(&self) -> Result<(), Error> {
        let contradiction = if self.inherits_linger {
            return Ok(());
        } else if self.min_hold.is_some() {
            "`min_hold` gives each task a hold of its own, so that none can `linger` for the next task; omit one of the two"
        } else if self.owner.is_some() {
            "an `owner` has holds of its own, which no other task can get, so they cannot `linger`; omit one of the two"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::InvalidConfig, contradiction))
    }
}
