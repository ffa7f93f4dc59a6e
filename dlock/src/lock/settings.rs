//! What one lock handle was told, and the methods that tell it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use metrics::SharedString;

use super::RwLock;
use crate::error::{Error, ErrorKind};
use crate::hold::Terms;
use crate::kind::LockKind;
use crate::lease::{check_lease, check_min_hold};
use crate::mode::LockMode;

/// The longest owner name, in bytes.
const MAX_OWNER_BYTES: usize = 256;

/// Per-lock settings; checked when the lock is acquired.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(super) lease: Duration,
    pub(super) max_hold: Option<Duration>,
    pub(super) min_hold: Option<Duration>,
    pub(super) label: SharedString,
    pub(super) owner: Option<Arc<str>>,
}

impl Settings {
    pub(crate) fn new(lease: Duration, max_hold: Option<Duration>) -> Self {
        Self {
            lease,
            max_hold,
            min_hold: None,
            label: SharedString::const_str("unnamed"),
            owner: None,
        }
    }

    pub(super) fn terms(&self, kind: LockKind, mode: LockMode) -> Terms {
        Terms {
            kind,
            mode,
            lease: self.lease,
            max_hold: self.max_hold,
            min_hold: self.min_hold.filter(|min_hold| !min_hold.is_zero()),
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        check_lease(self.lease, self.max_hold)?;
        check_min_hold(self.min_hold, self.max_hold)?;
        match &self.owner {
            Some(owner) if owner.is_empty() || owner.len() > MAX_OWNER_BYTES => Err(Error::new(
                ErrorKind::InvalidConfig,
                format!("owner `{owner}` must have 1 to {MAX_OWNER_BYTES} bytes"),
            )),
            // A hold that has ended would still belong to the owner, who could go past the line with it.
            Some(_) if self.min_hold.is_some() => Err(Error::new(
                ErrorKind::InvalidConfig,
                "`owner` allows re-entry and `min_hold` forbids it; omit one of the two",
            )),
            _ => Ok(()),
        }
    }
}

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
    #[doc(alias = "upgrade")]
    #[doc(alias = "downgrade")]
    #[doc(alias = "reentrant")]
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.handle.settings.owner = Some(owner.into().into());
        self
    }
}
