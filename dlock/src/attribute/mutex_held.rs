//! The plain mutex that the running function holds.

use std::fmt;

use super::Held;
use crate::{Error, LockKey};

/// The plain mutex under which an annotated function runs (`lock = "mutex"`): a [`Held`] without a fencing token.
///
/// Named with `guard = name`, or asked for with [`current_mutex`](crate::current_mutex). It tells about the mutex but
/// does not keep it: the function's end releases, however many clones there are, and says so to them.
#[derive(Clone)]
pub struct MutexHeld(Held);

impl MutexHeld {
    pub(super) fn new(held: Held) -> Self {
        Self(held)
    }

    /// The mutex' key, which is its name.
    #[must_use]
    pub fn key(&self) -> &LockKey {
        self.0.key()
    }

    /// Whether the mutex is held no longer: the lease is gone, or the function has returned. Reads a
    /// clock and sends nothing.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.is_lost()
    }

    /// An error if the mutex is held no longer, for use with `?` before a step that cannot be undone.
    ///
    /// # Errors
    ///
    /// [`is_lost`](Error::is_lost) when somebody else may hold the mutex.
    pub fn check(&self) -> Result<(), Error> {
        self.0.check()
    }

    /// Completes when the mutex is held no longer.
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed.
    pub async fn lost(&self) {
        self.0.lost().await;
    }
}

/// One line, for logs.
impl fmt::Debug for MutexHeld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "MutexHeld {{ lock: {:?}, lost: {} }}",
            self.key().name(),
            self.is_lost()
        )
    }
}
