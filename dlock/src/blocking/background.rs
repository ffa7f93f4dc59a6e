//! Building a client on this process's own runtime.

use std::sync::mpsc;

use super::Client;
use crate::{ClientBuilder, Error, background};

impl ClientBuilder {
    /// Connects; everything the client does runs on a thread of this crate.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn build_blocking(self) -> Result<Client, Error> {
        let runtime = background::start().map_err(|error| Error::no_thread(&error))?;
        let (sender, receiver) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            // Nobody waits any more if this fails, and the client ends with the message.
            let _ = sender.send(self.build().await);
        });
        receiver
            .recv()
            .map_err(|_| Error::closed())?
            .map(Into::into)
    }
}
