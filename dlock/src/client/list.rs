//! Finding locks.

use wildmatch::WildMatch;

use super::Client;
use crate::clock::Instant;
use crate::error::Error;
use crate::key::LockKey;
use crate::kind::Kind;
use crate::metrics;

impl Client {
    /// The names of the locks under this client's prefix that match `pattern`, sorted: those that
    /// are held or waited for, and some that have been free for a minute at most. In a pattern, `*` stands for
    /// any characters and `?` for one.
    ///
    /// Walks through all keys of all masters (`SCAN`), which is fine for looking into a problem
    /// and too much for anything done often.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](crate::ErrorKind::Unavailable) or
    /// [`Timeout`](crate::ErrorKind::Timeout) when a master does not answer,
    /// [`Unauthorized`](crate::ErrorKind::Unauthorized) without the right to `SCAN`,
    /// [`Closed`](crate::ErrorKind::Closed) after a shutdown.
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
    /// let _order = client.rw_lock("order:42")?.write().await?;
    /// let _user = client.rw_lock("user:7")?.read().await?;
    /// assert_eq!(client.list("order:*").await?, ["order:42"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list(&self, pattern: &str) -> Result<Vec<String>, Error> {
        self.list_kind(Kind::Rw, pattern).await
    }

    /// The same of mutexes, as far as dlock keeps anything beside them: those that have a fencing token or for which somebody
    /// waits, or did so a minute ago at most. A mutex for which nobody waits is just a string like others.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
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
    /// let _guard = client.mutex("order:42")?.fenced()?.lock().await?;
    /// assert_eq!(client.list_mutexes("order:*").await?, ["order:42"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list_mutexes(&self, pattern: &str) -> Result<Vec<String>, Error> {
        self.list_kind(Kind::Mutex, pattern).await
    }

    async fn list_kind(&self, kind: Kind, pattern: &str) -> Result<Vec<String>, Error> {
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
