//! The blocking handle to one mutex.

use std::borrow::Cow;
use std::time::Duration;

use super::{FencedMutexGuard, MutexGuard};
use crate::{Client, Error, LockInfo, LockKey};

macro_rules! mutex {
    ($(#[$about:meta])* $name:ident, $guard:ident, $make:literal) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name {
            client: Client,
            mutex: crate::$name,
        }

        impl $name {
            pub(super) fn new(client: Client, mutex: crate::$name) -> Self {
                Self { client, mutex }
            }

            fn wait<T>(&self, future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
                self.client.wait(future)?
            }

            /// See [`Mutex::lease`](crate::Mutex::lease).
            #[must_use]
            pub fn lease(mut self, lease: Duration) -> Self {
                self.mutex = self.mutex.lease(lease);
                self
            }

            /// See [`Mutex::max_hold`](crate::Mutex::max_hold).
            #[must_use]
            pub fn max_hold(mut self, max_hold: Duration) -> Self {
                self.mutex = self.mutex.max_hold(max_hold);
                self
            }

            /// See [`Mutex::min_hold`](crate::Mutex::min_hold).
            #[must_use]
            pub fn min_hold(mut self, min_hold: Duration) -> Self {
                self.mutex = self.mutex.min_hold(min_hold);
                self
            }

            /// See [`Mutex::label`](crate::Mutex::label).
            #[must_use]
            pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
                self.mutex = self.mutex.label(label);
                self
            }

            /// The mutex' key on the server, which is its name.
            #[must_use]
            pub fn key(&self) -> &LockKey {
                self.mutex.key()
            }

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
                let guard = self.wait(self.mutex.lock())?;
                Ok($guard::new(&self.client, guard))
            }

            /// Acquires if that is possible at once.
            ///
            /// # Errors
            ///
            /// As [`Mutex::try_lock`](crate::Mutex::try_lock).
            pub fn try_lock(&self) -> Result<Option<$guard>, Error> {
                let guard = self.wait(self.mutex.try_lock())?;
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
                let guard = self.wait(self.mutex.lock_timeout(patience))?;
                Ok($guard::new(&self.client, guard))
            }

            /// The holders and the waiters of the mutex, as the server sees them now.
            ///
            /// # Errors
            ///
            /// As [`Mutex::inspect`](crate::Mutex::inspect).
            pub fn inspect(&self) -> Result<LockInfo, Error> {
                self.wait(self.mutex.inspect())
            }

            /// Ends the hold with this id; see [`Mutex::force_release`](crate::Mutex::force_release).
            ///
            /// # Errors
            ///
            /// As [`Mutex::force_release`](crate::Mutex::force_release).
            pub fn force_release(&self, hold_id: &str) -> Result<bool, Error> {
                self.wait(self.mutex.force_release(hold_id))
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
        let mutex = self.mutex.fenced()?;
        Ok(FencedMutex::new(self.client, mutex))
    }
}
