//! The blocking handle to one lock.

use std::borrow::Cow;
use std::time::Duration;

use super::{ReadGuard, WriteGuard};
use crate::{Client, Error, LockInfo, LockKey};

/// A [`RwLock`](crate::RwLock) whose methods wait. Settings and errors are the same; on the one thread
/// that drives a client's runtime they answer [`WouldDeadlock`](crate::ErrorKind::WouldDeadlock).
#[derive(Clone, Debug)]
pub struct RwLock {
    client: Client,
    lock: crate::RwLock,
}

impl RwLock {
    pub(super) fn new(client: Client, lock: crate::RwLock) -> Self {
        Self { client, lock }
    }

    fn wait<T>(&self, future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.client.wait(future)?
    }

    /// See [`RwLock::lease`](crate::RwLock::lease).
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lock = self.lock.lease(lease);
        self
    }

    /// See [`RwLock::max_hold`](crate::RwLock::max_hold).
    #[must_use]
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.lock = self.lock.max_hold(max_hold);
        self
    }

    /// See [`RwLock::min_hold`](crate::RwLock::min_hold).
    #[must_use]
    pub fn min_hold(mut self, min_hold: Duration) -> Self {
        self.lock = self.lock.min_hold(min_hold);
        self
    }

    /// See [`RwLock::label`](crate::RwLock::label).
    #[must_use]
    pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.lock = self.lock.label(label);
        self
    }

    /// See [`RwLock::owner`](crate::RwLock::owner).
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.lock = self.lock.owner(owner);
        self
    }

    /// The lock's key on the server.
    #[must_use]
    pub fn key(&self) -> &LockKey {
        self.lock.key()
    }

    /// Acquires to read, shared with other readers; waits as long as it takes.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`](crate::RwLock::read).
    pub fn read(&self) -> Result<ReadGuard, Error> {
        let guard = self.wait(self.lock.read())?;
        Ok(ReadGuard::new(&self.client, guard))
    }

    /// Acquires to write, alone; waits as long as it takes.
    ///
    /// # Errors
    ///
    /// As [`RwLock::write`](crate::RwLock::write).
    pub fn write(&self) -> Result<WriteGuard, Error> {
        let guard = self.wait(self.lock.write())?;
        Ok(WriteGuard::new(&self.client, guard))
    }

    /// Acquires to read if that is possible at once.
    ///
    /// # Errors
    ///
    /// As [`RwLock::try_read`](crate::RwLock::try_read).
    pub fn try_read(&self) -> Result<Option<ReadGuard>, Error> {
        let guard = self.wait(self.lock.try_read())?;
        Ok(guard.map(|guard| ReadGuard::new(&self.client, guard)))
    }

    /// Acquires to write if that is possible at once.
    ///
    /// # Errors
    ///
    /// As [`RwLock::try_write`](crate::RwLock::try_write).
    pub fn try_write(&self) -> Result<Option<WriteGuard>, Error> {
        let guard = self.wait(self.lock.try_write())?;
        Ok(guard.map(|guard| WriteGuard::new(&self.client, guard)))
    }

    /// Acquires to read, waiting at most this long.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read_timeout`](crate::RwLock::read_timeout).
    pub fn read_timeout(&self, patience: Duration) -> Result<ReadGuard, Error> {
        let guard = self.wait(self.lock.read_timeout(patience))?;
        Ok(ReadGuard::new(&self.client, guard))
    }

    /// Acquires to write, waiting at most this long.
    ///
    /// ```
    /// # fn main() -> Result<(), dlock::Error> {
    /// use std::time::Duration;
    ///
    /// let client = dlock::blocking::Client::connect("memory://")?;
    /// let lock = client.rw_lock("order:42")?;
    /// let guard = lock.write()?;
    /// assert!(lock.write_timeout(Duration::from_millis(5)).unwrap_err().is_timeout());
    /// # drop(guard);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`RwLock::write_timeout`](crate::RwLock::write_timeout).
    pub fn write_timeout(&self, patience: Duration) -> Result<WriteGuard, Error> {
        let guard = self.wait(self.lock.write_timeout(patience))?;
        Ok(WriteGuard::new(&self.client, guard))
    }

    /// The holders and the waiters of the lock, as the server sees them now.
    ///
    /// # Errors
    ///
    /// As [`RwLock::inspect`](crate::RwLock::inspect).
    pub fn inspect(&self) -> Result<LockInfo, Error> {
        self.wait(self.lock.inspect())
    }

    /// Ends the hold with this id; see [`RwLock::force_release`](crate::RwLock::force_release).
    ///
    /// # Errors
    ///
    /// As [`RwLock::force_release`](crate::RwLock::force_release).
    pub fn force_release(&self, hold_id: &str) -> Result<bool, Error> {
        self.wait(self.lock.force_release(hold_id))
    }
}
