//! The handle to a read/write lock.

use std::time::Duration;

use super::handle::Handle;
use super::waiting::Wait;
use super::{ReadGuard, WriteGuard};
use crate::error::Error;
use crate::key::LockKey;
use crate::mode::LockMode;

/// A handle to a read/write lock. All clients that use the same name and prefix share the lock.
///
/// [`Client::rw_lock`](crate::Client::rw_lock) returns it. A handle is cheap, holds nothing by itself, and can be cloned and sent to other
/// tasks. Its settings apply to the locks acquired through it, and an acquire reports a value out of range.
///
/// # Fairness
///
/// Waiters are served in order, phase-fair between readers and writers: a waiting writer keeps new readers out, and after it all waiting
/// readers enter together. Tasks of one process hand the lock over in memory, for at most 5 ms or 2000 times. Then the next waiting
/// process gets it.
#[derive(Debug, Clone)]
pub struct RwLock {
    pub(super) handle: Handle,
}

impl RwLock {
    pub(crate) fn new(handle: Handle) -> Self {
        Self { handle }
    }

    /// The lock's key on the server.
    #[must_use]
    pub fn key(&self) -> &LockKey {
        &self.handle.key
    }

    /// Acquires the lock for reading, shared with other readers. Waits without a limit.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`](crate::ErrorKind::InvalidConfig) for a setting out of range;
    /// [`Unavailable`](crate::ErrorKind::Unavailable) if the servers fail for longer than `retry_for`;
    /// [`Unauthorized`](crate::ErrorKind::Unauthorized), [`ForeignKey`](crate::ErrorKind::ForeignKey) or
    /// [`Server`](crate::ErrorKind::Server) if the server refuses; [`Closed`](crate::ErrorKind::Closed) after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the queue position, or releases the lock if it was granted meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// let client = dlock::Client::connect("memory://").await?;
    /// let lock = client.rw_lock("order:42")?;
    /// let (one, two) = (lock.read().await?, lock.read().await?);
    /// # drop((one, two));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read(&self) -> Result<ReadGuard, Error> {
        self.handle
            .always(LockMode::Read, Wait::Forever)
            .await
            .map(ReadGuard::new)
    }

    /// Acquires the lock for writing, excluding all other holders. Waits without a limit.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and [`WouldDeadlock`](crate::ErrorKind::WouldDeadlock) if this handle's owner reads beside other readers.
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// let client = dlock::Client::connect("memory://").await?;
    /// let guard = client.rw_lock("order:42")?.write().await?;
    /// guard.check()?;
    /// guard.release().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write(&self) -> Result<WriteGuard, Error> {
        self.handle
            .always(LockMode::Write, Wait::Forever)
            .await
            .map(WriteGuard::new)
    }

    /// Acquires the lock for reading if no writer holds it or waits; otherwise `None`. Takes one round trip, or up to `retry_for` while
    /// servers fail.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// let client = dlock::Client::connect("memory://").await?;
    /// let lock = client.rw_lock("order:42")?;
    /// let writing = lock.write().await?;
    /// assert!(lock.try_read().await?.is_none());
    /// # drop(writing);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn try_read(&self) -> Result<Option<ReadGuard>, Error> {
        let share = self.handle.acquire(LockMode::Read, Wait::No).await?;
        Ok(share.map(ReadGuard::new))
    }

    /// Acquires the lock for writing if no client holds it or waits; otherwise `None`. Takes one round trip, or up to `retry_for` while
    /// servers fail.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// let client = dlock::Client::connect("memory://").await?;
    /// let lock = client.rw_lock("nightly")?;
    /// match lock.try_write().await? {
    ///     Some(guard) => guard.release().await?,
    ///     None => println!("the lock is held"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn try_write(&self) -> Result<Option<WriteGuard>, Error> {
        let share = self.handle.acquire(LockMode::Write, Wait::No).await?;
        Ok(share.map(WriteGuard::new))
    }

    /// Acquires the lock for reading, and waits for at most `patience`.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and [`Timeout`](crate::ErrorKind::Timeout) after `patience`.
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// use std::time::Duration;
    ///
    /// let client = dlock::Client::connect("memory://").await?;
    /// let lock = client.rw_lock("order:42")?;
    /// let guard = lock.read_timeout(Duration::from_secs(2)).await?;
    /// # drop(guard);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_timeout(&self, patience: Duration) -> Result<ReadGuard, Error> {
        self.handle
            .always(LockMode::Read, Wait::For(patience))
            .await
            .map(ReadGuard::new)
    }

    /// Acquires the lock for writing, and waits for at most `patience`.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write), and [`Timeout`](crate::ErrorKind::Timeout) after `patience`.
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// use std::time::Duration;
    ///
    /// let client = dlock::Client::connect("memory://").await?;
    /// let lock = client.rw_lock("order:42")?;
    /// let guard = lock.write_timeout(Duration::from_secs(2)).await?;
    /// # drop(guard);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_timeout(&self, patience: Duration) -> Result<WriteGuard, Error> {
        self.handle
            .always(LockMode::Write, Wait::For(patience))
            .await
            .map(WriteGuard::new)
    }
}
