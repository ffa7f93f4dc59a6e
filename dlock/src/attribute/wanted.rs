//! What a call wants of its locks.

use std::time::Duration;

use super::context::{holds_any, reenter};
use crate::lock::{Handle, Share, Wait};
use crate::{Client, Error, ErrorKind, LockKind, LockMode};

/// The arguments of the attribute that are the same for each of its locks.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) kind: LockKind,
    pub(super) mode: LockMode,
    pub(super) lease: Option<Duration>,
    pub(super) max_hold: Option<Duration>,
    pub(super) min_hold: Option<Duration>,
    pub(super) wait: Wait,
    pub(super) cancel: bool,
}

impl Wanted {
    pub(super) fn lock(
        &self,
        client: &Client,
        name: &str,
        label: &'static str,
    ) -> Result<Handle, Error> {
        let mut lock = client.handle(self.kind, name)?.label(label);
        if let Some(lease) = self.lease {
            lock = lock.lease(lease);
        }
        if let Some(max_hold) = self.max_hold {
            lock = lock.max_hold(max_hold);
        }
        if let Some(min_hold) = self.min_hold {
            lock = lock.min_hold(min_hold);
        }
        Ok(lock)
    }

    /// Whether the running task's own locks answer for all of `names`, if only with a refusal: then no server is asked.
    pub(super) fn enters<'a>(
        &self,
        client: &Client,
        names: impl IntoIterator<Item = &'a str>,
    ) -> bool {
        let enters = |name| {
            let lock = client.handle(self.kind, name)?;
            reenter(client, lock.key(), self.mode)
        };
        names
            .into_iter()
            .all(|name| holds_any() && !matches!(enters(name), Ok(None)))
    }

    /// One lock, or an error if it is not had within `wait`.
    pub(super) async fn take(&self, lock: &Handle, wait: Wait) -> Result<Share, Error> {
        let share = lock.acquire(self.mode, wait).await?;
        share.ok_or_else(|| busy(lock))
    }

    /// One lock if it is free.
    pub(super) async fn try_take(&self, lock: &Handle) -> Result<Option<Share>, Error> {
        lock.acquire(self.mode, Wait::No).await
    }
}

pub(super) fn busy(lock: &Handle) -> Error {
    Error::new(
        ErrorKind::Busy,
        format!(
            "lock `{}` is held by another caller; set `wait` to a duration to queue for it",
            lock.key().name()
        ),
    )
}
