//! The runtime of all blocking clients of this process.

use std::sync::mpsc;
use std::{io, thread};

use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle};

use super::Client;
use crate::{ClientBuilder, Error, ErrorKind};

static BACKGROUND: Mutex<Option<Handle>> = Mutex::new(None);

impl ClientBuilder {
    /// Connects, and starts the client's background tasks on a thread of its own.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn build_blocking(self) -> Result<Client, Error> {
        build(self).map(Into::into)
    }
}

/// Builds a client that lives on the background thread.
fn build(builder: ClientBuilder) -> Result<crate::Client, Error> {
    let runtime = runtime().map_err(|error| {
        Error::with_cause(
            ErrorKind::Unavailable,
            format!("the thread for blocking clients could not be started: {error}"),
            &error,
        )
    })?;
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // Nobody waits any more if this fails, and the client ends with the message.
        let _ = sender.send(builder.build().await);
    });
    receiver.recv().map_err(|_| Error::closed())?
}

/// The background runtime; started at the first call, for as long as the process lives.
fn runtime() -> io::Result<Handle> {
    let mut background = BACKGROUND.lock();
    if let Some(runtime) = &*background {
        return Ok(runtime.clone());
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    thread::Builder::new()
        .name("dlock-blocking".into())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    *background = Some(handle.clone());
    Ok(handle)
}
