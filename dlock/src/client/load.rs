//! The servers' load.

use super::Client;
use crate::clock::Instant;
use crate::error::Error;
use crate::store::ScriptLoad;

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
