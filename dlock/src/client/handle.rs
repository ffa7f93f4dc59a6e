//! The public client type.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::ClientBuilder;
use super::inner::Inner;
use crate::error::Error;
use crate::key::LockKey;
use crate::kind::Kind;
use crate::lock::{Handle, Mutex, RwLock, Settings};

/// A connection to where locks live. Cheap to clone; all clones share their connections and
/// background tasks.
///
/// It serves whoever uses it: several Tokio runtimes, one after the other or side by side, other executors, threads. What
/// renews and releases runs on a thread that all clients of the process share. Connections are driven by the runtime on
/// which the client was built, and by that thread once the runtime has ended or stands still for a tenth of a
/// second.
#[derive(Clone)]
pub struct Client {
    pub(super) inner: Arc<Inner>,
}

impl Client {
    pub(super) fn new(inner: Inner) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Runs `future` while this thread does nothing else.
    ///
    /// # Errors
    ///
    /// `would_deadlock` on the one thread without which the client cannot go on.
    pub(crate) fn wait<F: Future>(&self, future: F) -> Result<F::Output, Error> {
        self.inner.home.wait(future)
    }

    /// Whether `other` is this client or a clone of it.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// A client with default settings; see [`ClientBuilder::url`] for the URLs.
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::build`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes what was opened.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// let client = dlock::Client::connect("memory://").await?;
    /// let guard = client.rw_lock("order:42")?.write().await?;
    /// guard.release().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(url: &str) -> Result<Self, Error> {
        Self::builder().url(url).build().await
    }

    /// Settings to start from.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// A handle to the lock of this name. Nothing is sent.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a name that is empty, longer than 512
    /// bytes, or whose braces do not make a hash tag.
    pub fn rw_lock(&self, name: impl AsRef<str>) -> Result<RwLock, Error> {
        self.handle(Kind::Rw, name.as_ref()).map(RwLock::new)
    }

    /// A handle to the mutex that is the string key of this name, which programs in other languages may take as well:
    /// `SET name token NX PX ..`. The key is the name, as it is: no prefix, no braces. Nothing is sent.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a name that is empty or longer than 512 bytes.
    pub fn mutex(&self, name: impl AsRef<str>) -> Result<Mutex, Error> {
        self.handle(Kind::Mutex, name.as_ref()).map(Mutex::new)
    }

    /// A lock of any kind.
    pub(crate) fn handle(&self, kind: Kind, name: &str) -> Result<Handle, Error> {
        let config = &self.inner.config;
        let key = match kind {
            Kind::Rw => LockKey::new(&config.prefix, name)?,
            kind => LockKey::mutex(kind, &config.prefix, name)?,
        };
        let settings = Settings::new(config.lease, config.max_hold);
        Ok(Handle::new(Arc::clone(&self.inner.locks), key, settings))
    }

    /// Ends well: no new locks are given (also to those who wait, and inside of functions that hold one), what holds a
    /// lock may finish within `patience`, and then the client is shut down as by
    /// [`shutdown`](Self::shutdown). For the end of a service, behind its last request.
    ///
    /// # Fairness
    ///
    /// Those who wait are turned away at once with [`Closed`](crate::ErrorKind::Closed); other processes are served.
    ///
    /// # Errors
    ///
    /// [`Timeout`](crate::ErrorKind::Timeout) (step `Release`) when something was still held after `patience`, and lost
    /// then; otherwise as [`shutdown`](Self::shutdown).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the client closed to new locks; what is held is kept.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// use std::time::Duration;
    ///
    /// let client = dlock::Client::connect("memory://").await?;
    /// let guard = client.rw_lock("order:42")?.write().await?;
    /// let running = tokio::spawn(async move {
    ///     tokio::time::sleep(Duration::from_millis(20)).await;
    ///     guard.release().await
    /// });
    /// client.drain(Duration::from_secs(5)).await?;
    /// running.await.unwrap()?; // held to the end
    /// assert!(client.rw_lock("order:42")?.write().await.unwrap_err().is_closed());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn drain(&self, patience: Duration) -> Result<(), Error> {
        self.inner.locks.drain(patience).await
    }

    /// Gives up what this client and its clones hold, sends the releases still queued, and ends
    /// the background tasks. Guards that are still alive report
    /// [`LossReason::Shutdown`](crate::LossReason::Shutdown); later acquires answer
    /// [`Closed`](crate::ErrorKind::Closed). A second call does nothing more.
    ///
    /// # Errors
    ///
    /// [`Timeout`](crate::ErrorKind::Timeout) (step `Release`) when releases could not be
    /// delivered within `retry_for`; those locks become free when their leases end.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the client closed; queued releases are still sent while the
    /// runtime lives.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// let client = dlock::Client::connect("memory://").await?;
    /// let guard = client.rw_lock("order:42")?.write().await?;
    /// client.shutdown().await?;
    /// assert!(guard.is_lost());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn shutdown(&self) -> Result<(), Error> {
        self.inner.locks.shutdown().await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("id", &self.inner.id.as_str())
            .field("store", &self.inner.locks.store)
            .finish_non_exhaustive()
    }
}
