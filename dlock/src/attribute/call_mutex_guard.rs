//! The plain mutex that the running function holds.

use std::fmt;
use std::time::Duration;

use super::CallGuard;
use crate::{Error, LockKey, LossReason};

/// The plain mutex under which an annotated function runs (`lock = "mutex"`): a [`CallGuard`] without a fencing token.
///
/// `guard = name` binds it, and [`current_mutex`](crate::current_mutex) returns it. It does not keep the mutex: the end of the function
/// releases the mutex, and all clones then report that.
#[derive(Clone)]
pub struct CallMutexGuard(CallGuard);

impl CallMutexGuard {
    pub(super) fn new(held: CallGuard) -> Self {
        Self(held)
    }

    /// The mutex's key, which is its name.
    #[must_use]
    pub fn key(&self) -> &LockKey {
        self.0.key()
    }

    /// How long this process may still rely on the mutex if no renewal succeeds; zero if it is held no longer.
    #[must_use]
    pub fn lease_left(&self) -> Duration {
        self.0.lease_left()
    }

    /// Whether the mutex is no longer held: the lease has ended, or the function has returned. Reads the clock and sends no
    /// request.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.is_lost()
    }

    /// An error if the mutex is held no longer, for use with `?` before a step that cannot be undone.
    ///
    /// # Errors
    ///
    /// [`is_lost`](Error::is_lost) if another program may hold the mutex.
    pub fn check(&self) -> Result<(), Error> {
        self.0.check()
    }

    /// Completes when the mutex is no longer held, with the reason: [`Removed`](LossReason::Removed) if the function has returned.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn lost(&self) -> LossReason {
        self.0.lost().await
    }
}

/// One line, for logs.
impl fmt::Debug for CallMutexGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CallMutexGuard {{ lock: {:?}, lost: {} }}",
            self.key().name(),
            self.is_lost()
        )
    }
}
