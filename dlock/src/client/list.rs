//! Finding locks.

use tokio::time::Instant;

use super::Client;
use crate::error::Error;
use crate::key::LockKey;
use crate::metrics;
use crate::store::ScriptLoad;

impl Client {
    /// The names of the locks under this client's prefix that match `pattern`, sorted: those that
    /// are held or waited for, and some that were free for less than a second. In a pattern, `*` stands for
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
        let keys = self.all_keys().await.inspect_err(metrics::failed)?;
        let prefix = &self.inner.config.prefix;
        let mut names: Vec<String> = keys
            .iter()
            .filter_map(|key| LockKey::read(prefix, key))
            .filter(|key| matches(pattern, key.name()))
            .map(|key| key.name().to_owned())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    async fn all_keys(&self) -> Result<Vec<String>, Error> {
        self.inner.locks.check_open()?;
        let stem = [&self.inner.config.prefix, ":"].concat();
        let deadline = Instant::now() + self.inner.config.timeouts.retry_for;
        self.inner.locks.store.keys(&stem, deadline).await
    }

    /// What the servers have done for locks, and others' scripts, so far. For the command-line
    /// tool; not covered by semantic versioning.
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

/// Whether `text` looks like `pattern`. Goes back to the last `*` when something does not fit, so
/// that no pattern takes long.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                p = at + 1;
                t = from + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, text) in [
            ("*", ""),
            ("*", "order:42"),
            ("order:*", "order:42"),
            ("*:4?", "order:42"),
            ("o*r*2", "order:42"),
            ("a[b]", "a[b]"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "a"), ("order", "order:42"), ("?", ""), ("*3", "42")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
