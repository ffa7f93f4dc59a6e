//! The handle to a mutex.

use std::borrow::Cow;
use std::time::Duration;

use super::handle::Handle;
use super::waiting::Wait;
use super::{FencedMutexGuard, MutexGuard};
use crate::error::Error;
use crate::key::LockKey;
use crate::kind::{LockKind, LockMode};
use crate::protocol::LockInfo;

macro_rules! mutex {
    ($(#[$about:meta])* $name:ident, $guard:ident, $make:literal) => {
        $(#[$about])*
        #[derive(Debug, Clone)]
        pub struct $name {
            handle: Handle,
        }

        impl $name {
            pub(crate) fn new(handle: Handle) -> Self {
                Self { handle }
            }

            /// The mutex's key on the server, which is its name.
            #[must_use]
            pub fn key(&self) -> &LockKey {
                &self.handle.key
            }

            /// How long a hold lasts without a renewal. 200 ms to 24 h. Default: the client's.
            #[must_use]
            pub fn lease(self, lease: Duration) -> Self {
                Self::new(self.handle.lease(lease))
            }

            /// How long the client renews a hold before the hold is lost; at least the lease. Default: the client's.
            #[must_use]
            pub fn max_hold(self, max_hold: Duration) -> Self {
                Self::new(self.handle.max_hold(max_hold))
            }

            /// How long the mutex stays held from its grant, even if the holder releases it sooner: see
            /// [`RwLock::min_hold`](crate::RwLock::min_hold). Default: none.
            #[must_use]
            pub fn min_hold(self, min_hold: Duration) -> Self {
                Self::new(self.handle.min_hold(min_hold))
            }

            /// The value of the label `lock` in metrics. Default: `unnamed`. Use few values: the template of a key, never a
            /// rendered key.
            #[must_use]
            pub fn label(self, label: impl Into<Cow<'static, str>>) -> Self {
                Self::new(self.handle.label(label))
            }

            /// Acquires the mutex. Waits without a limit.
            ///
            /// # Errors
            ///
            /// As [`RwLock::read`](crate::RwLock::read). [`ForeignKey`](crate::ErrorKind::ForeignKey) means that the
            /// key is not a string.
            ///
            /// # Cancel safety
            ///
            /// Dropping the future gives up the queue position, or releases the mutex if it was granted meanwhile.
            ///
            /// # Examples
            ///
            /// ```
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), dlock::Error> {
            /// let client = dlock::Client::connect("memory://").await?;
            #[doc = concat!(" let guard = client.", $make, ".lock().await?;")]
            /// guard.check()?;
            /// guard.release().await?;
            /// # Ok(())
            /// # }
            /// ```
            pub async fn lock(&self) -> Result<$guard, Error> {
                let share = self.handle.always(LockMode::Write, Wait::Forever).await?;
                Ok($guard::new(share))
            }

            /// Acquires the mutex if no program holds it and no client of dlock waits; otherwise `None`. Takes one round trip, or up
            /// to `retry_for` while servers fail.
            ///
            /// # Errors
            ///
            /// As [`lock`](Self::lock).
            ///
            /// # Cancel safety
            ///
            /// As [`lock`](Self::lock).
            ///
            /// # Examples
            ///
            /// ```
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), dlock::Error> {
            /// let client = dlock::Client::connect("memory://").await?;
            #[doc = concat!(" let mutex = client.", $make, ";")]
            /// let guard = mutex.lock().await?;
            /// assert!(mutex.try_lock().await?.is_none());
            /// # drop(guard);
            /// # Ok(())
            /// # }
            /// ```
            pub async fn try_lock(&self) -> Result<Option<$guard>, Error> {
                let share = self.handle.acquire(LockMode::Write, Wait::No).await?;
                Ok(share.map($guard::new))
            }

            /// Acquires the mutex, and waits for at most `patience`.
            ///
            /// # Errors
            ///
            /// As [`lock`](Self::lock), and [`Timeout`](crate::ErrorKind::Timeout) after `patience`.
            ///
            /// # Cancel safety
            ///
            /// As [`lock`](Self::lock).
            ///
            /// # Examples
            ///
            /// ```
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), dlock::Error> {
            /// use std::time::Duration;
            ///
            /// let client = dlock::Client::connect("memory://").await?;
            #[doc = concat!(" let guard = client.", $make, ".lock_timeout(Duration::from_secs(2)).await?;")]
            /// # drop(guard);
            /// # Ok(())
            /// # }
            /// ```
            pub async fn lock_timeout(&self, patience: Duration) -> Result<$guard, Error> {
                let share = self.handle.always(LockMode::Write, Wait::For(patience)).await?;
                Ok($guard::new(share))
            }

            /// The holder and the waiters that the server knows now. The id of a holder without dlock is the value of the key. The
            /// server does not know waiters without dlock.
            ///
            /// # Errors
            ///
            /// As [`lock`](Self::lock).
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
            #[doc = concat!(" let mutex = client.", $make, ";")]
            /// let guard = mutex.lock().await?;
            /// assert_eq!(mutex.inspect().await?.holder_count(), 1);
            /// # drop(guard);
            /// # Ok(())
            /// # }
            /// ```
            pub async fn inspect(&self) -> Result<LockInfo, Error> {
                self.handle.inspect().await
            }

            /// Ends the hold of a client of dlock with this id, as [`inspect`](Self::inspect) shows it; `false` if no hold has this
            /// id. For operators, as [`RwLock::force_release`](crate::RwLock::force_release).
            ///
            /// # Errors
            ///
            /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for an id that is not dlock's; otherwise as
            /// [`lock`](Self::lock).
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
            #[doc = concat!(" let mutex = client.", $make, ";")]
            /// let guard = mutex.lock().await?;
            /// let info = mutex.inspect().await?;
            /// assert!(mutex.force_release(&info.holders[0].id).await?);
            /// assert!(guard.release().await.is_err_and(|error| error.is_lost()));
            /// # Ok(())
            /// # }
            /// ```
            pub async fn force_release(&self, hold_id: &str) -> Result<bool, Error> {
                self.handle.force_release(hold_id).await
            }
        }
    };
}

mutex! {
    /// A handle to a mutex: one string on the server, as programs in many languages use it. `SET name token NX PX ..` takes it, and the
    /// owner of the token removes it. dlock and other programs see each other's holds as busy, and each releases only its own.
    ///
    /// [`Client::mutex`](crate::Client::mutex) returns it. A handle is cheap, holds nothing by itself, and can be cloned and sent to other
    /// tasks. Its settings apply to the holds acquired through it, and an acquire reports a value out of range. A mutex has no re-entry: a
    /// task that holds it and acquires it again waits for itself.
    ///
    /// # Fairness
    ///
    /// Clients of dlock queue on the server. Tasks of one process hand the mutex over in memory, for at most 5 ms or 2000 times. Other
    /// programs poll, outside the queue. dlock leaves the mutex free for 150 ms now and then so that they get it: after five seconds of
    /// hand-overs between clients of dlock at the latest, and much sooner after another program has held it.
    Mutex, MutexGuard, "mutex(\"order:42\")?"
}

mutex! {
    /// A [`Mutex`] with fencing tokens, which grow from grant to grant in dlock, as those of a [`RwLock`](crate::RwLock). Holders without
    /// dlock have no token, so their late writes cannot be fenced. Fenced and plain clients may share a mutex.
    ///
    /// # Fairness
    ///
    /// As [`Mutex`].
    FencedMutex, FencedMutexGuard, "mutex(\"order:42\")?.fenced()?"
}

impl Mutex {
    /// This mutex with a fencing token for each hold. The server keeps the last token in a hash beside the key (`dlock~m:{order:42}`), so
    /// an acquire costs more.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a name whose braces would separate the two in a cluster, such as
    /// `a}b`.
    pub fn fenced(self) -> Result<FencedMutex, Error> {
        let (name, prefix) = (self.handle.key.name(), self.handle.key.prefix());
        let key = LockKey::mutex(LockKind::FencedMutex, prefix, name)?;
        Ok(FencedMutex::new(self.handle.for_key(key)))
    }
}
