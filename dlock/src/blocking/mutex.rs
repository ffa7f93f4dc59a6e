//! The blocking handle to one mutex.

use std::time::Duration;

use super::handle::handle;
use super::{FencedMutexGuard, MutexGuard};
use crate::Error;

macro_rules! mutex {
    ($(#[$about:meta])* $name:ident, $guard:ident, $make:literal) => {
        handle! {
            $(#[$about])*
            $name, crate::$name, "Mutex"
        }

        impl $name {
            /// Acquires; waits as long as it takes.
            ///
            /// ```
            /// # fn main() -> Result<(), dlock::Error> {
            /// let client = dlock::blocking::Client::connect("memory://")?;
            #[doc = concat!(" let guard = client.", $make, ".lock()?;")]
            /// guard.check()?;
            /// guard.release()?;
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// As [`Mutex::lock`](crate::Mutex::lock).
            pub fn lock(&self) -> Result<$guard, Error> {
                let guard = self.wait(self.lock.lock())?;
                Ok($guard::new(&self.client, guard))
            }

            /// Acquires if that is possible at once.
            ///
            /// # Errors
            ///
            /// As [`Mutex::try_lock`](crate::Mutex::try_lock).
            pub fn try_lock(&self) -> Result<Option<$guard>, Error> {
                let guard = self.wait(self.lock.try_lock())?;
                Ok(guard.map(|guard| $guard::new(&self.client, guard)))
            }

            /// Acquires, waiting at most this long.
            ///
            /// ```
            /// # fn main() -> Result<(), dlock::Error> {
            /// use std::time::Duration;
            ///
            /// let client = dlock::blocking::Client::connect("memory://")?;
            #[doc = concat!(" let mutex = client.", $make, ";")]
            /// let guard = mutex.lock()?;
            /// assert!(mutex.lock_timeout(Duration::from_millis(5)).unwrap_err().is_timeout());
            /// # drop(guard);
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// As [`Mutex::lock_timeout`](crate::Mutex::lock_timeout).
            pub fn lock_timeout(&self, patience: Duration) -> Result<$guard, Error> {
                let guard = self.wait(self.lock.lock_timeout(patience))?;
                Ok($guard::new(&self.client, guard))
            }
        }
    };
}

mutex! {
    /// A [`Mutex`](crate::Mutex) whose methods wait. Settings and errors are the same; on the one thread
    /// that drives a client's runtime they answer [`WouldDeadlock`](crate::ErrorKind::WouldDeadlock).
    Mutex, MutexGuard, "mutex(\"order:42\")?"
}

mutex! {
    /// A [`FencedMutex`](crate::FencedMutex) whose methods wait, as those of [`Mutex`] do.
    FencedMutex, FencedMutexGuard, "mutex(\"order:42\")?.fenced()?"
}

impl Mutex {
    /// See [`Mutex::fenced`](crate::Mutex::fenced).
    ///
    /// ```
    /// # fn main() -> Result<(), dlock::Error> {
    /// let client = dlock::blocking::Client::connect("memory://")?;
    /// let mutex = client.mutex("order:42")?.fenced()?;
    /// let guard = mutex.lock()?;
    /// println!("fencing token {}", guard.fencing_token());
    /// # guard.release()
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Mutex::fenced`](crate::Mutex::fenced).
    pub fn fenced(self) -> Result<FencedMutex, Error> {
        let lock = self.lock.fenced()?;
        Ok(FencedMutex::new(self.client, lock))
    }
}
