//! The handle to one mutex.

use std::borrow::Cow;
use std::time::Duration;

use super::handle::Handle;
use super::wait::Wait;
use super::{FencedMutexGuard, MutexGuard};
use crate::error::Error;
use crate::key::LockKey;
use crate::kind::Kind;
use crate::mode::Mode;
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

            /// The mutex' key on the server, which is its name.
            #[must_use]
            pub fn key(&self) -> &LockKey {
                &self.handle.key
            }

            /// How long a hold lasts without a renewal. 200 ms to 24 h. Default: the client's.
            #[must_use]
            pub fn lease(self, lease: Duration) -> Self {
                Self::new(self.handle.lease(lease))
            }

            /// How long a hold renews itself before it is given up as lost; at least the lease. Default:
            /// the client's.
            #[must_use]
            pub fn max_hold(self, max_hold: Duration) -> Self {
                Self::new(self.handle.max_hold(max_hold))
            }

            /// How long the mutex stays held from its grant on, although its holder may be done earlier, as
            /// [`RwLock::min_hold`](crate::RwLock::min_hold) says. Default: none.
            #[must_use]
            pub fn min_hold(self, min_hold: Duration) -> Self {
                Self::new(self.handle.min_hold(min_hold))
            }

            /// The value of the `lock` label in metrics. Default: `unnamed`. Use few values: the
            /// template of a key, never a rendered one.
            #[must_use]
            pub fn label(self, label: impl Into<Cow<'static, str>>) -> Self {
                Self::new(self.handle.label(label))
            }

            /// Acquires; waits as long as it takes.
            ///
            /// # Errors
            ///
            /// As [`RwLock::read`](crate::RwLock::read). [`ForeignKey`](crate::ErrorKind::ForeignKey) means that the
            /// key is no string.
            ///
            /// # Cancel safety
            ///
            /// Dropping the future gives up the place in line, or the mutex if it was granted meanwhile.
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
                let share = self.handle.always(Mode::Write, Wait::Forever).await?;
                Ok($guard::new(share))
            }

            /// Acquires if that is possible at once; `None` if somebody holds the mutex or waits for it.
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
                let share = self.handle.acquire(Mode::Write, Wait::No).await?;
                Ok(share.map($guard::new))
            }

            /// Acquires, waiting at most this long.
            ///
            /// # Errors
            ///
            /// As [`lock`](Self::lock), and [`Timeout`](crate::ErrorKind::Timeout) when the time is up.
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
                let share = self.handle.always(Mode::Write, Wait::For(patience)).await?;
                Ok($guard::new(share))
            }

            /// Who holds the mutex and who waits, as the server sees it now. Of a holder without dlock, the id is the value
            /// of the key; others who wait without dlock are not known.
            ///
            /// # Errors
            ///
            /// As [`lock`](Self::lock).
            ///
            /// # Cancel safety
            ///
            /// Nothing is changed.
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

            /// Ends the hold with this id, as [`inspect`](Self::inspect) shows it, whoever of dlock's clients has it;
            /// `false` if there is none. For operators, as [`RwLock::evict`](crate::RwLock::evict).
            ///
            /// # Errors
            ///
            /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for what is no hold id of dlock's; otherwise as
            /// [`lock`](Self::lock).
            ///
            /// # Cancel safety
            ///
            /// Dropping the future leaves it open whether the hold has ended.
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
            /// assert!(mutex.evict(&info.holders[0].id).await?);
            /// assert!(guard.release().await.is_err_and(|error| error.is_lost()));
            /// # Ok(())
            /// # }
            /// ```
            pub async fn evict(&self, hold_id: &str) -> Result<bool, Error> {
                self.handle.evict(hold_id).await
            }
        }
    };
}

mutex! {
    /// A mutex that is one string on the server, as programs in many languages take it: `SET name token NX PX ..`, and an end
    /// by whoever has the token. Either side sees the other's hold as busy, and frees only its own.
    ///
    /// Made by [`Client::mutex`](crate::Client::mutex). A handle is cheap, holds nothing by itself,
    /// and can be cloned and sent to other tasks. Its settings concern what is acquired through it;
    /// values out of range are reported when it is. Nobody enters it twice: a task that holds it and asks again waits for
    /// itself.
    ///
    /// # Fairness
    ///
    /// Clients of dlock stand in line, and the mutex goes from one to the next on the server; inside a process it is
    /// passed on among tasks, for at most 5 ms or 2000 times. Others poll, and are not in the line: for them
    /// the mutex is left free for 150 ms now and then, five seconds after dlock's clients began to pass it on among themselves
    /// at the latest, and much sooner where others have held it lately.
    Mutex, MutexGuard, "mutex(\"order:42\")?"
}

mutex! {
    /// A [`Mutex`] with fencing tokens. They grow from grant to grant through dlock, as those of a
    /// [`RwLock`](crate::RwLock) do; who holds the mutex without dlock has none, so what such holders send can be told by nobody
    /// from what is late. Clients that fence and clients that do not may share a mutex.
    ///
    /// # Fairness
    ///
    /// As [`Mutex`].
    FencedMutex, FencedMutexGuard, "mutex(\"order:42\")?.fenced()?"
}

impl Mutex {
    /// The same mutex, with a fencing token for each hold. The last token is kept in a hash beside the key
    /// (`dlock~m:{order:42}`), so an acquire costs more.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a name whose braces would part the two in a cluster, such as
    /// `a}b`.
    pub fn fenced(self) -> Result<FencedMutex, Error> {
        let (name, prefix) = (self.handle.key.name(), self.handle.key.prefix());
        let key = LockKey::mutex(Kind::FencedMutex, prefix, name)?;
        Ok(FencedMutex::new(self.handle.for_key(key)))
    }
}
