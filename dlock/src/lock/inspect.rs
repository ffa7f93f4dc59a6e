//! Inspection of a lock.

use super::RwLock;
use super::handle::Handle;
use crate::clock::Instant;
use crate::error::Error;
use crate::metrics;
use crate::protocol::{LockInfo, Op, Reply};

impl RwLock {
    /// The holders and the waiters that the server knows now. Of several tasks of a process that wait for the lock, the server knows only
    /// the first.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
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
    /// let lock = client.rw_lock("order:42")?;
    /// let guard = lock.write().await?;
    /// let info = lock.inspect().await?;
    /// assert_eq!(info.mode(), Some(dlock::Mode::Write));
    /// assert_eq!(info.last_token, Some(guard.fencing_token()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn inspect(&self) -> Result<LockInfo, Error> {
        self.handle.inspect().await
    }
}

impl Handle {
    pub(super) async fn inspect(&self) -> Result<LockInfo, Error> {
        let info = self.ask_info().await;
        info.inspect_err(metrics::failed)
    }

    async fn ask_info(&self) -> Result<LockInfo, Error> {
        self.commons.check_open()?;
        let deadline = || Instant::now() + self.commons.timeouts.retry_for;
        let answer = self.commons.store.call(&self.key, &Op::Inspect, deadline);
        match answer.await?.reply {
            Reply::Info(mut info) => {
                if !self.key.kind().has_tokens() {
                    // One that the line needs was given to nobody.
                    info.last_token = None;
                }
                Ok(info)
            }
            _ => Err(Error::unexpected_reply(self.key.name())),
        }
    }
}
