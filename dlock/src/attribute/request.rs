//! What one call of an annotated function asks for.

use std::fmt::Display;
use std::time::Duration;

use super::{AsClient, Grant, context};
use crate::{Client, Error, ErrorKind, Mode};

/// A lock to take, as the arguments of the attribute say.
#[derive(Debug)]
#[must_use]
pub struct Request {
    name: String,
    label: &'static str,
    mode: Mode,
    client: Option<Client>,
    lease: Option<Duration>,
    max_hold: Option<Duration>,
    wait: Wait,
    cancel: bool,
}

/// How long to wait.
#[derive(Debug)]
enum Wait {
    None,
    For(Duration),
    Forever,
}

impl Request {
    /// A request for `name` from the installed client, which waits for ever.
    pub fn new(name: &(impl Display + ?Sized), label: &'static str, mode: Mode) -> Self {
        Self {
            name: name.to_string(),
            label,
            mode,
            client: None,
            lease: None,
            max_hold: None,
            wait: Wait::Forever,
            cancel: true,
        }
    }

    /// `client = ..`
    pub fn client(mut self, client: &(impl AsClient + ?Sized)) -> Self {
        self.client = Some(client.as_client().clone());
        self
    }

    /// `lease = ..`
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// `max_hold = ..`
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.max_hold = Some(max_hold);
        self
    }

    /// `wait = "5s"`
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = Wait::For(wait);
        self
    }

    /// `wait = "none"`
    pub fn try_once(mut self) -> Self {
        self.wait = Wait::None;
        self
    }

    /// `wait = "forever"`
    pub fn wait_forever(mut self) -> Self {
        self.wait = Wait::Forever;
        self
    }

    /// `on_lost = "continue"`
    pub fn continue_when_lost(mut self) -> Self {
        self.cancel = false;
        self
    }

    /// Waits for the lock.
    ///
    /// # Errors
    ///
    /// Whatever the client reports, and `would_deadlock` when the task reads what it wants to write.
    pub async fn acquire(self) -> Result<Grant, Error> {
        let client = match self.client {
            Some(client) => client,
            None => crate::installed()?,
        };
        let mut lock = client.rw_lock(&self.name)?.label(self.label);
        if let Some(held) = context::reenter(&client, lock.key(), self.mode)? {
            return Ok(Grant::reentered(held, self.cancel));
        }
        if let Some(lease) = self.lease {
            lock = lock.lease(lease);
        }
        if let Some(max_hold) = self.max_hold {
            lock = lock.max_hold(max_hold);
        }
        let key = lock.key().clone();
        let contended = || {
            Error::new(
                ErrorKind::Contended,
                format!("lock `{}` is held by somebody else", key.name()),
            )
        };
        let guard = match (self.mode, self.wait) {
            (Mode::Read, Wait::Forever) => lock.read().await?.into(),
            (Mode::Read, Wait::For(wait)) => lock.read_timeout(wait).await?.into(),
            (Mode::Read, Wait::None) => lock.try_read().await?.ok_or_else(contended)?.into(),
            (Mode::Write, Wait::Forever) => lock.write().await?.into(),
            (Mode::Write, Wait::For(wait)) => lock.write_timeout(wait).await?.into(),
            (Mode::Write, Wait::None) => lock.try_write().await?.ok_or_else(contended)?.into(),
        };
        Ok(Grant::taken(client, guard, self.cancel))
    }
}
