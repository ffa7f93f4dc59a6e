//! On which terms a call asks for its locks.

use std::time::Duration;

use tokio::time::Instant;

use super::owned::Guard;
use crate::{Client, Error, ErrorKind, Mode, RwLock};

/// The arguments of the attribute that are the same for each of its locks.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub(super) mode: Mode,
    pub(super) lease: Option<Duration>,
    pub(super) max_hold: Option<Duration>,
    pub(super) patience: Patience,
    pub(super) cancel: bool,
}

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) enum Patience {
    None,
    For(Duration),
    Forever,
}

impl Patience {
    /// When it ends, counted from now; `None` for never.
    pub(super) fn ends(self) -> Option<Instant> {
        match self {
            Self::None => Some(Instant::now()),
            Self::For(wait) => Instant::now().checked_add(wait),
            Self::Forever => None,
        }
    }

    /// What is left of it until `end`.
    pub(super) fn left_until(self, end: Option<Instant>) -> Self {
        match (self, end) {
            (Self::For(_), Some(end)) => Self::For(end.saturating_duration_since(Instant::now())),
            _ => self,
        }
    }
}

impl Terms {
    pub(super) fn lock(
        &self,
        client: &Client,
        name: &str,
        label: &'static str,
    ) -> Result<RwLock, Error> {
        let mut lock = client.rw_lock(name)?.label(label);
        if let Some(lease) = self.lease {
            lock = lock.lease(lease);
        }
        if let Some(max_hold) = self.max_hold {
            lock = lock.max_hold(max_hold);
        }
        Ok(lock)
    }

    /// One lock, within `patience`.
    pub(super) async fn take(&self, lock: &RwLock, patience: Patience) -> Result<Guard, Error> {
        Ok(match (self.mode, patience) {
            (Mode::Read, Patience::Forever) => lock.read().await?.into(),
            (Mode::Read, Patience::For(wait)) => lock.read_timeout(wait).await?.into(),
            (Mode::Write, Patience::Forever) => lock.write().await?.into(),
            (Mode::Write, Patience::For(wait)) => lock.write_timeout(wait).await?.into(),
            (_, Patience::None) => self.try_take(lock).await?.ok_or_else(|| contended(lock))?,
        })
    }

    /// One lock if it is free.
    pub(super) async fn try_take(&self, lock: &RwLock) -> Result<Option<Guard>, Error> {
        Ok(match self.mode {
            Mode::Read => lock.try_read().await?.map(Guard::from),
            Mode::Write => lock.try_write().await?.map(Guard::from),
        })
    }
}

pub(super) fn contended(lock: &RwLock) -> Error {
    Error::new(
        ErrorKind::Contended,
        format!(
            "lock `{}` is held by somebody else; give `wait` a length to stand in line",
            lock.key().name()
        ),
    )
}
