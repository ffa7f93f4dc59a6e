//! The blocking handles to locks: a macro makes what those to all kinds have, and each kind adds its own ways to acquire.

use std::time::Duration;

use super::{FencedMutexGuard, MutexGuard, ReadGuard, WriteGuard};
use crate::Error;

/// A handle of this name, the async handle that it waits for, and the name under which that is documented.
macro_rules! handle {
    ($(#[$about:meta])* $name:ident, $lock:path, $of:literal) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name {
            client: crate::Client,
            lock: $lock,
        }

        impl $name {
            pub(super) fn new(client: crate::Client, lock: $lock) -> Self {
                Self { client, lock }
            }

            fn wait<T>(
                &self,
                future: impl Future<Output = Result<T, crate::Error>>,
            ) -> Result<T, crate::Error> {
                self.client.wait(future)?
            }

            #[doc = concat!("See [`", $of, "::lease`](crate::", $of, "::lease).")]
            #[must_use]
            pub fn lease(mut self, lease: std::time::Duration) -> Self {
                self.lock = self.lock.lease(lease);
                self
            }

            #[doc = concat!("See [`", $of, "::max_hold`](crate::", $of, "::max_hold).")]
            #[must_use]
            pub fn max_hold(mut self, max_hold: std::time::Duration) -> Self {
                self.lock = self.lock.max_hold(max_hold);
                self
            }

            #[doc = concat!("See [`", $of, "::min_hold`](crate::", $of, "::min_hold).")]
            #[must_use]
            pub fn min_hold(mut self, min_hold: std::time::Duration) -> Self {
                self.lock = self.lock.min_hold(min_hold);
                self
            }

            #[doc = concat!("See [`", $of, "::label`](crate::", $of, "::label).")]
            #[must_use]
            pub fn label(mut self, label: impl Into<std::borrow::Cow<'static, str>>) -> Self {
                self.lock = self.lock.label(label);
                self
            }

            /// The lock's key on the server. A mutex' key is its name.
            #[must_use]
            pub fn key(&self) -> &crate::LockKey {
                self.lock.key()
            }

            /// The holders and the waiters of the lock, as the server sees them now.
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`", $of, "::inspect`](crate::", $of, "::inspect).")]
            pub fn inspect(&self) -> Result<crate::LockInfo, crate::Error> {
                self.wait(self.lock.inspect())
            }

            /// Ends the hold with this id, as
            #[doc = concat!("[`", $of, "::force_release`](crate::", $of, "::force_release) does.")]
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`", $of, "::force_release`](crate::", $of, "::force_release).")]
            pub fn force_release(&self, hold_id: &str) -> Result<bool, crate::Error> {
                self.wait(self.lock.force_release(hold_id))
            }
        }
    };
}

handle! {
    /// A [`RwLock`](crate::RwLock) whose methods wait. Settings and errors are the same; on the one thread
    /// that drives a client's runtime they answer [`WouldDeadlock`](crate::ErrorKind::WouldDeadlock).
    RwLock, crate::RwLock, "RwLock"
}

impl RwLock {
    /// See [`RwLock::linger`](crate::RwLock::linger).
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.lock = self.lock.linger(linger);
        self
    }

    /// See [`RwLock::owner`](crate::RwLock::owner).
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.lock = self.lock.owner(owner);
        self
    }

    /// Acquires to read, shared with other readers; waits as long as it takes.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`](crate::RwLock::read).
    pub fn read(&self) -> Result<ReadGuard, Error> {
        let guard = self.wait(self.lock.read())?;
        Ok(ReadGuard::new(&self.client, guard))
    }

    /// Acquires to write, alone; waits as long as it takes.
    ///
    /// # Errors
    ///
    /// As [`RwLock::write`](crate::RwLock::write).
    pub fn write(&self) -> Result<WriteGuard, Error> {
        let guard = self.wait(self.lock.write())?;
        Ok(WriteGuard::new(&self.client, guard))
    }

    /// Acquires to read if that is possible at once.
    ///
    /// # Errors
    ///
    /// As [`RwLock::try_read`](crate::RwLock::try_read).
    pub fn try_read(&self) -> Result<Option<ReadGuard>, Error> {
        let guard = self.wait(self.lock.try_read())?;
        Ok(guard.map(|guard| ReadGuard::new(&self.client, guard)))
    }

    /// Acquires to write if that is possible at once.
    ///
    /// # Errors
    ///
    /// As [`RwLock::try_write`](crate::RwLock::try_write).
    pub fn try_write(&self) -> Result<Option<WriteGuard>, Error> {
        let guard = self.wait(self.lock.try_write())?;
        Ok(guard.map(|guard| WriteGuard::new(&self.client, guard)))
    }

    /// Acquires to read, waiting at most this long.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read_timeout`](crate::RwLock::read_timeout).
    pub fn read_timeout(&self, patience: Duration) -> Result<ReadGuard, Error> {
        let guard = self.wait(self.lock.read_timeout(patience))?;
        Ok(ReadGuard::new(&self.client, guard))
    }

    /// Acquires to write, waiting at most this long.
    ///
    /// ```
    /// # fn main() -> Result<(), dlock::Error> {
    /// use std::time::Duration;
    ///
    /// let client = dlock::blocking::Client::connect("memory://")?;
    /// let lock = client.rw_lock("order:42")?;
    /// let guard = lock.write()?;
    /// assert!(lock.write_timeout(Duration::from_millis(5)).unwrap_err().is_timeout());
    /// # drop(guard);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`RwLock::write_timeout`](crate::RwLock::write_timeout).
    pub fn write_timeout(&self, patience: Duration) -> Result<WriteGuard, Error> {
        let guard = self.wait(self.lock.write_timeout(patience))?;
        Ok(WriteGuard::new(&self.client, guard))
    }
}

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
