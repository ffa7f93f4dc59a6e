//! Settings of a handle.

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
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.handle.settings.owner = Some(owner.into().into());
        self
    }
}
