//! How what is acquired through a handle is held.

use std::borrow::Cow;
use std::time::Duration;

use super::RwLock;

impl RwLock {
    /// How long a hold lasts without a renewal. 200 ms to 24 h. Default: the client's.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.handle = self.handle.lease(lease);
        self
    }

    /// How long a hold renews itself before it is given up as lost; at least the lease. Default:
    /// the client's.
    #[must_use]
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.handle = self.handle.max_hold(max_hold);
        self
    }

    /// How long the lock stays held from its grant on, although its holder may be done earlier: for a
    /// job that shall run once in that time, however slightly apart the processes start it. At most
    /// 24 h and `max_hold`. A release, or a drop, before that gives the hold an end on the server and
    /// leaves it there, so it stays without this process, too (200 ms longer then); who waits gets the lock then. What was
    /// acquired in vain, because another of `keys` was not to be had, is given back at once. Such a
    /// hold is not shared or passed on in this process, and has no [`owner`](Self::owner). Default: none.
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

    /// The value of the `lock` label in metrics. Default: `unnamed`. Use few values: the
    /// template of a key, never a rendered one.
    #[must_use]
    pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.handle = self.handle.label(label);
        self
    }

    /// Acquires on behalf of an explicit owner, 1 to 256 bytes. An owner that holds the lock may
    /// acquire it again, through any guard and from any process: write after write, read after
    /// write (releasing the write then leaves the read), read after read, and write after read
    /// while no other owner reads. Not together with [`min_hold`](Self::min_hold), which lets nobody in. Default: every
    /// acquisition stands for itself.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.handle.settings.owner = Some(owner.into().into());
        self
    }
}
