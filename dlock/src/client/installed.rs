//! The process-wide client.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use super::Client;
use crate::error::{Error, ErrorKind};

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
