//! The handle to one lock.

use std::time::Duration;

use super::handle::Handle;
use super::wait::Wait;
use super::{ReadGuard, WriteGuard};
use crate::error::Error;
use crate::key::LockKey;
use crate::mode::Mode;

/// A read/write lock with a name, shared by everybody who uses the name and the prefix.
///
/// Made by [`Client::rw_lock`](crate::Client::rw_lock). A handle is cheap, holds nothing by itself,
/// and can be cloned and sent to other tasks. Its settings concern what is acquired through it;
/// values out of range are reported when it is.
///
/// # Fairness
///
/// Waiters are served in order, phase-fair between readers and writers: a waiting writer keeps new
/// readers out, and when it is done, all readers that waited enter together. Inside one process a
/// hold is passed on from task to task without asking the server, for at most 5 ms or 2000
/// times; then another process gets its turn if one waits.
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

    /// Acquires to read, shared with other readers; waits as long as it takes.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`](crate::ErrorKind::InvalidConfig) for a setting out of range;
    /// [`Unavailable`](crate::ErrorKind::Unavailable) when the servers fail for longer than
    /// `retry_for`; [`Unauthorized`](crate::ErrorKind::Unauthorized),
    /// [`ForeignKey`](crate::ErrorKind::ForeignKey), [`Server`](crate::ErrorKind::Server) as the
    /// server says; [`Closed`](crate::ErrorKind::Closed) after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the place in line, or the lock if it was granted meanwhile.
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
            .always(Mode::Read, Wait::Forever)
            .await
            .map(ReadGuard::new)
    }

    /// Acquires to write, alone; waits as long as it takes.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and [`WouldDeadlock`](crate::ErrorKind::WouldDeadlock) when this
    /// explicit owner reads beside other readers.
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
            .always(Mode::Write, Wait::Forever)
            .await
            .map(WriteGuard::new)
    }

    /// Acquires to read if that is possible at once; `None` if somebody writes or waits to.
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
        let share = self.handle.acquire(Mode::Read, Wait::No).await?;
        Ok(share.map(ReadGuard::new))
    }

    /// Acquires to write if that is possible at once; `None` if anybody holds the lock or waits.
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
    ///     None => println!("somebody else is at it"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn try_write(&self) -> Result<Option<WriteGuard>, Error> {
        let share = self.handle.acquire(Mode::Write, Wait::No).await?;
        Ok(share.map(WriteGuard::new))
    }

    /// Acquires to read, waiting at most this long.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and [`Timeout`](crate::ErrorKind::Timeout) when the time is up.
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
            .always(Mode::Read, Wait::For(patience))
            .await
            .map(ReadGuard::new)
    }

    /// Acquires to write, waiting at most this long.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write), and [`Timeout`](crate::ErrorKind::Timeout) when the time is up.
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
            .always(Mode::Write, Wait::For(patience))
            .await
            .map(WriteGuard::new)
    }
}
