//! The handle to a read/write lock: acquiring, looking at the lock, and the settings.

use std::borrow::Cow;
use std::time::Duration;

use super::handle::Handle;
use super::waiting::Wait;
use super::{ReadGuard, WriteGuard};
use crate::error::Error;
use crate::key::LockKey;
use crate::kind::LockMode;
use crate::protocol::LockInfo;

/// A handle to a read/write lock. All clients that use the same name and prefix share the lock.
///
/// [`Client::rw_lock`](crate::Client::rw_lock) returns it. A handle is cheap, holds nothing by itself, and can be cloned and sent to other
/// tasks. Its settings apply to the locks acquired through it, and an acquire reports a value out of range.
///
/// # Fairness
///
/// Waiters are served in order, phase-fair between readers and writers: a waiting writer keeps new readers out, and after it all waiting
/// readers enter together. Tasks of one process hand the lock over in memory, for at most 5 ms or 2000 times. Then the next waiting
/// process gets it. With [`linger`](Self::linger) a process keeps the lock among its tasks until another one asks.
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

    /// The holders and the waiters that the server knows now. Of several tasks of a process that wait for the lock, the server knows only
    /// the first.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// let client = dlock::Client::connect("memory://").await?;
    /// let lock = client.rw_lock("order:42")?;
    /// let guard = lock.write().await?;
    /// let info = lock.inspect().await?;
    /// assert_eq!(info.mode(), Some(dlock::LockMode::Write));
    /// assert_eq!(info.last_token, Some(guard.fencing_token()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn inspect(&self) -> Result<LockInfo, Error> {
        self.handle.inspect().await
    }

    /// Ends the hold with this id, as [`inspect`](Self::inspect) shows it; `false` if no hold has this id. For operators: another client
    /// may get the lock at once, while the holder learns of the loss only at its next renewal.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for an invalid hold id; otherwise as
    /// [`read`](Self::read).
    ///
    /// # Cancel safety
    ///
    /// After a drop of the future the hold may or may not have ended.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// let client = dlock::Client::connect("memory://").await?;
    /// let lock = client.rw_lock("order:42")?;
    /// let guard = lock.write().await?;
    /// let info = lock.inspect().await?;
    /// assert!(lock.force_release(&info.holders[0].id).await?);
    /// assert!(guard.release().await.is_err_and(|error| error.is_lost()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn force_release(&self, hold_id: &str) -> Result<bool, Error> {
        self.handle.force_release(hold_id).await
    }

    /// How long a hold lasts without a renewal. 200 ms to 24 h. Default: the client's.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.handle = self.handle.lease(lease);
        self
    }

    /// How long the client renews a hold before the hold is lost; at least the lease. Default: the client's.
    #[must_use]
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.handle = self.handle.max_hold(max_hold);
        self
    }

    /// How long the lock stays held from its grant, even if the holder releases it sooner: for a job that must run once although several
    /// processes start it at slightly different times. At most 24 h and `max_hold`. Default: none.
    ///
    /// A release or a drop before that sets the hold's end on the server. The hold lasts until then, also without this process (200 ms
    /// longer in that case), and the next waiter gets the lock. A lock that was acquired in vain, because another of `keys` was busy, is
    /// released at once. Tasks of this process do not share such a hold or hand it over, and it has no [`owner`](Self::owner).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// use std::time::Duration;
    ///
    /// let client = dlock::Client::connect("memory://").await?;
    /// let nightly = client.rw_lock("nightly")?.min_hold(Duration::from_secs(10));
    /// nightly.write().await?.release().await?;
    /// assert!(nightly.try_write().await?.is_none()); // it has run
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn min_hold(mut self, min_hold: Duration) -> Self {
        self.handle = self.handle.min_hold(min_hold);
        self
    }

    /// How long this process keeps the lock after its last task has released it, so that its next task gets it without a request to the
    /// server: for a key that one process uses again and again. At most 60 s. Default: the client's, which is not at all.
    ///
    /// Each writer gets a larger fencing token, also without a request; readers are admitted without a request until a writer asks. A process that wants
    /// the lock has the server notify this one, which gives it back at once if no task uses it. A lock that other processes want twice
    /// within half a second does not linger for a while. The lease is 2 s at most, also if a longer one is set: a process that crashes
    /// keeps others out for no longer, and a server that stops for longer costs locks in use. [`Client::drain`](crate::Client::drain), [`shutdown`](crate::Client::shutdown) and the drop of the client give the lock
    /// back. Locks of a quorum cannot linger, nor those with a [`min_hold`](Self::min_hold) or an [`owner`](Self::owner).
    ///
    /// Leave it out where several processes take turns: the first acquire of each is slower then, and [`try_write`](Self::try_write)
    /// finds a lock busy that no task uses.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// use std::time::Duration;
    ///
    /// let client = dlock::Client::connect("memory://").await?;
    /// let orders = client.rw_lock("tenant:7")?.linger(Duration::from_millis(500));
    /// let first = orders.write().await?;
    /// let token = first.fencing_token();
    /// first.release().await?;
    /// let second = orders.write().await?; // without a request
    /// assert!(second.fencing_token() > token);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.handle = self.handle.linger(linger);
        self
    }

    /// The value of the label `lock` in metrics. Default: `unnamed`. Use few values: the template of a key, never a rendered key.
    #[must_use]
    pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.handle = self.handle.label(label);
        self
    }

    /// Acquires on behalf of an explicit owner, 1 to 256 bytes. This allows re-entry, upgrade and downgrade: an owner that holds the lock
    /// may acquire it again, through any handle and from any process. Default: no owner.
    ///
    /// * Re-entry: write after write, read after read.
    /// * Downgrade: read after write; the release of the write leaves the read.
    /// * Upgrade: write after read, while no other owner reads.
    ///
    /// [`min_hold`](Self::min_hold) excludes an owner.
    #[doc(alias = "upgrade")]
    #[doc(alias = "downgrade")]
    #[doc(alias = "reentrant")]
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.handle.settings.owner = Some(owner.into().into());
        self
    }
}
