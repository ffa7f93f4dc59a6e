//! Lists of locks, and the load of the servers.

use wildmatch::WildMatch;

use super::Client;
use crate::clock::Instant;
use crate::error::Error;
use crate::key::LockKey;
use crate::kind::LockKind;
use crate::metrics;
use crate::store::ScriptLoad;

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
