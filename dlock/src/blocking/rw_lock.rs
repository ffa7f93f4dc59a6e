//! The blocking handle to one read/write lock.

use std::time::Duration;

use super::handle::handle;
use super::{ReadGuard, WriteGuard};
use crate::Error;

handle! {
    /// A [`RwLock`](crate::RwLock) whose methods wait. Settings and errors are the same; on the one thread
    /// that drives a client's runtime they answer [`WouldDeadlock`](crate::ErrorKind::WouldDeadlock).
    RwLock, crate::RwLock, "RwLock"
}

impl RwLock {
    /// See [`RwLock::owner`](crate::RwLock::owner).
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.lock = self.lock.owner(owner);
        self
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
}
