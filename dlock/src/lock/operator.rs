//! What operators do with a lock: look at it, and end the hold of another client.

use super::handle::Handle;
use super::rw_lock::RwLock;
use crate::clock::Instant;
use crate::error::{Error, ErrorKind};
use crate::metrics;
use crate::protocol::{HoldId, LockInfo, Op, Reply};

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
    /// assert_eq!(info.mode(), Some(dlock::LockMode::Write));
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
                    // The line used this token for itself; no holder has it.
                    info.last_token = None;
                }
                Ok(info)
            }
            _ => Err(Error::unexpected_reply(self.key.name())),
        }
    }
}

impl RwLock {
    /// Ends the hold with this id, as [`inspect`](Self::inspect) shows it; `false` if no hold has this id. For operators: another client
    /// may get the lock at once, while the holder learns of the loss only at its next renewal.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for an invalid hold id; otherwise as
    /// [`read`](Self::read).
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
    /// let lock = client.rw_lock("order:42")?;
    /// let guard = lock.write().await?;
    /// let info = lock.inspect().await?;
    /// assert!(lock.force_release(&info.holders[0].id).await?);
    /// assert!(guard.release().await.is_err_and(|error| error.is_lost()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn force_release(&self, hold_id: &str) -> Result<bool, Error> {
        self.handle.force_release(hold_id).await
    }
}

impl Handle {
    pub(super) async fn force_release(&self, hold_id: &str) -> Result<bool, Error> {
        self.end_hold(hold_id).await.inspect_err(metrics::failed)
    }

    async fn end_hold(&self, hold_id: &str) -> Result<bool, Error> {
        self.commons.check_open()?;
        let hold = HoldId::parse(hold_id).filter(|_| HoldId::is_one(hold_id));
        let hold = hold.ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidKey,
                format!(
                    "`{hold_id}` is no hold id; take one from `inspect`, such as \
                     `web-1:4711/8f3a5c0d9e2b7146/1a`"
                ),
            )
        })?;
        let lease = self.settings.lease;
        self.commons
            .keeper
            .force_release(&self.key, hold, lease)
            .await
    }
}
