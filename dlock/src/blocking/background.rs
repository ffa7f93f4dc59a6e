//! Clients on the runtime of dlock's thread.

use std::sync::mpsc;

use super::Client;
use crate::{ClientBuilder, Error, background};

impl ClientBuilder {
    /// Connects. A thread of dlock does all the client's work.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn build_blocking(self) -> Result<Client, Error> {
        let runtime = background::start().map_err(|error| Error::no_thread(&error))?;
        let (sender, receiver) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            // If this fails, no caller waits any more, and the client ends with the message.
            let _ = sender.send(self.build().await);
        });
        receiver
            .recv()
            .map_err(|_| Error::closed())?
            .map(Into::into)
    }
}
