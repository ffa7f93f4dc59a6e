//! The public client type with its lists of locks, what its clones share, and the client of the process.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use wildmatch::WildMatch;

use super::ClientBuilder;
use super::builder::Config;
use super::home::Home;
use crate::clock::Instant;
use crate::error::{Error, ErrorKind};
use crate::key::LockKey;
use crate::kind::LockKind;
use crate::lock::{Commons, Handle, Mutex, RwLock, Settings};
use crate::metrics;
use crate::protocol::ClientId;
use crate::store::{ScriptLoad, Store};

/// A client of the servers that keep the locks. Clones are cheap, and share connections and background tasks.
///
/// Several Tokio runtimes (in sequence or side by side), other executors, and threads may use one client. A thread that all clients of
/// the process share renews and releases. The runtime that built the client drives the connections. After the runtime has ended, or
/// has made no progress for a tenth of a second, that thread drives them.
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

    /// Blocks this thread until `future` completes.
    ///
    /// # Errors
    ///
    /// `would_deadlock` on the only thread that drives the client.
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
    /// Dropping the future closes the connections.
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

    /// A builder with default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// A handle to the read/write lock of this name. Sends no request.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a name that is empty, longer than 512
    /// bytes, or whose braces are not a hash tag.
    pub fn rw_lock(&self, name: impl AsRef<str>) -> Result<RwLock, Error> {
        self.handle(LockKind::Rw, name.as_ref()).map(RwLock::new)
    }

    /// A handle to the mutex of this name: a string key that programs in other languages also use (`SET name token NX PX ..`). The key is
    /// the name, without prefix or braces. Sends no request.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a name that is empty or longer than 512 bytes.
    pub fn mutex(&self, name: impl AsRef<str>) -> Result<Mutex, Error> {
        self.handle(LockKind::Mutex, name.as_ref()).map(Mutex::new)
    }

    /// A lock of any kind.
    pub(crate) fn handle(&self, kind: LockKind, name: &str) -> Result<Handle, Error> {
        let config = &self.inner.config;
        let key = match kind {
            LockKind::Rw => LockKey::new(&config.prefix, name)?,
            kind => LockKey::mutex(kind, &config.prefix, name)?,
        };
        let linger = config.linger.filter(|_| kind.features().lingers);
        let settings = Settings::new(config.lease, config.max_hold, linger);
        Ok(Handle::new(Arc::clone(&self.inner.locks), key, settings))
    }

    /// Drains the client at the end of a service: it grants no new locks (also to waiters, and inside functions that hold a lock), lets
    /// holders finish within `patience`, and then shuts down as [`shutdown`](Self::shutdown) does.
    ///
    /// # Fairness
    ///
    /// Waiters of this client fail at once with [`Closed`](crate::ErrorKind::Closed); waiters of other processes are served.
    ///
    /// # Errors
    ///
    /// [`Timeout`](crate::ErrorKind::Timeout) (step `Release`) if a hold remained after `patience`, which is then lost; otherwise as
    /// [`shutdown`](Self::shutdown).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the client closed to new locks. It keeps its holds.
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

    /// Ends all holds of this client and its clones, sends queued releases, and stops the background tasks. Guards that are still alive
    /// report [`LossReason::Shutdown`](crate::LossReason::Shutdown). Later acquires fail with [`Closed`](crate::ErrorKind::Closed). A
    /// second call has no effect.
    ///
    /// # Errors
    ///
    /// [`Timeout`](crate::ErrorKind::Timeout) (step `Release`) if releases could not be delivered within `retry_for`; those locks become
    /// free when their leases end.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the client closed. It still sends queued releases while the runtime lives.
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

impl Client {
    /// The sorted names of the read/write locks under this client's prefix that match `pattern`: held locks, locks with waiters, and
    /// some that have been free for at most a minute. In a pattern, `*` matches any characters and `?` matches one.
    ///
    /// Scans all keys of all masters (`SCAN`). Use it for diagnosis, not regularly.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](crate::ErrorKind::Unavailable) or
    /// [`Timeout`](crate::ErrorKind::Timeout) if a master does not answer,
    /// [`Unauthorized`](crate::ErrorKind::Unauthorized) without the right to `SCAN`,
    /// [`Closed`](crate::ErrorKind::Closed) after a shutdown.
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
    /// let _order = client.rw_lock("order:42")?.write().await?;
    /// let _user = client.rw_lock("user:7")?.read().await?;
    /// assert_eq!(client.list("order:*").await?, ["order:42"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list(&self, pattern: &str) -> Result<Vec<String>, Error> {
        self.list_kind(LockKind::Rw, pattern).await
    }

    /// The sorted names of the mutexes that match `pattern`, if they have a fencing token, or a waiter in dlock now or within the last
    /// minute. Other mutexes cannot be distinguished from other strings.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
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
    /// let _guard = client.mutex("order:42")?.fenced()?.lock().await?;
    /// assert_eq!(client.list_mutexes("order:*").await?, ["order:42"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list_mutexes(&self, pattern: &str) -> Result<Vec<String>, Error> {
        self.list_kind(LockKind::Mutex, pattern).await
    }

    async fn list_kind(&self, kind: LockKind, pattern: &str) -> Result<Vec<String>, Error> {
        let stem = LockKey::stem(kind, &self.inner.config.prefix);
        let keys = self.all_keys(&stem).await.inspect_err(metrics::failed)?;
        let pattern = WildMatch::new(pattern);
        let prefix = &self.inner.config.prefix;
        let mut names: Vec<String> = keys
            .iter()
            .filter_map(|key| LockKey::read(kind, prefix, key))
            .filter(|key| pattern.matches(key.name()))
            .map(|key| key.name().to_owned())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    async fn all_keys(&self, stem: &str) -> Result<Vec<String>, Error> {
        self.inner.locks.check_open()?;
        let deadline = Instant::now() + self.inner.config.timeouts.retry_for;
        self.inner.locks.store.keys(stem, deadline).await
    }
}

impl Client {
    /// The scripts that the servers have run so far, for locks and for other programs. For the command-line tool; not covered by semantic
    /// versioning.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list), with the right to `INFO`.
    #[doc(hidden)]
    pub async fn script_load(&self) -> Result<ScriptLoad, Error> {
        self.inner.locks.check_open()?;
        let deadline = Instant::now() + self.inner.config.timeouts.retry_for;
        self.inner.locks.store.script_load(deadline).await
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

pub(super) struct Inner {
    pub(super) config: Config,
    pub(super) id: ClientId,
    pub(super) home: Home,
    pub(super) locks: Arc<Commons>,
}

impl Inner {
    /// Starts the background tasks.
    pub(super) fn start(config: Config, id: ClientId, store: Store) -> Self {
        let locks = Commons::start(id.clone(), store, config.timeouts);
        Self {
            config,
            id,
            home: Home::current(),
            locks,
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("id", &self.id.as_str())
            .field("store", &self.locks.store)
            .finish_non_exhaustive()
    }
}

static INSTALLED: ArcSwapOption<Client> = ArcSwapOption::const_empty();

/// Installs `client` for annotated functions, and replaces an earlier one.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dlock::Error> {
/// dlock::install(dlock::Client::connect("memory://").await?);
/// assert!(dlock::installed().is_ok());
/// # Ok(())
/// # }
/// ```
pub fn install(client: Client) {
    INSTALLED.store(Some(Arc::new(client)));
}

/// The client given to [`install`].
///
/// # Errors
///
/// [`NotInstalled`](crate::ErrorKind::NotInstalled) if no client was installed.
pub fn installed() -> Result<Client, Error> {
    INSTALLED.load().as_deref().cloned().ok_or_else(|| {
        Error::new(
            ErrorKind::NotInstalled,
            "no client is installed; call `dlock::install(client)` when the process starts, or \
             name one with `client = …` in the attribute; in a test, run the function in a `dlock::testing::Scope`, \
             and what it spawns in `dlock::testing::carry`",
        )
    })
}
