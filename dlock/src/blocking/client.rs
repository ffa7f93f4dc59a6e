//! The blocking client, and how a builder makes one on the runtime of dlock's thread.

use std::sync::mpsc;
use std::time::Duration;

use super::{Mutex, RwLock};
use crate::attribute::AsClient;
use crate::{ClientBuilder, Error, background};

/// A [`Client`](crate::Client) whose methods block. Clones are cheap.
///
/// It converts to an async client: `dlock::install(client.into())`,
/// `client = ..` of the attribute, [`testing::Scope::new`](crate::testing::Scope::new).
#[derive(Clone, Debug)]
pub struct Client {
    client: crate::Client,
}

impl Client {
    /// A client with default settings; see [`ClientBuilder::url`] for the URLs.
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::build_blocking`].
    pub fn connect(url: &str) -> Result<Self, Error> {
        Self::builder().url(url).build_blocking()
    }

    /// A builder with default settings; end with [`build_blocking`](ClientBuilder::build_blocking).
    pub fn builder() -> ClientBuilder {
        crate::Client::builder()
    }

    /// A handle to the read/write lock of this name. Sends no request.
    ///
    /// # Errors
    ///
    /// As [`Client::rw_lock`](crate::Client::rw_lock).
    pub fn rw_lock(&self, name: impl AsRef<str>) -> Result<RwLock, Error> {
        let lock = self.client.rw_lock(name)?;
        Ok(RwLock::new(self.client.clone(), lock))
    }

    /// A handle to the mutex of this name. Sends no request.
    ///
    /// # Errors
    ///
    /// As [`Client::mutex`](crate::Client::mutex).
    pub fn mutex(&self, name: impl AsRef<str>) -> Result<Mutex, Error> {
        let mutex = self.client.mutex(name)?;
        Ok(Mutex::new(self.client.clone(), mutex))
    }

    /// The sorted names of the read/write locks that match `pattern`; see [`Client::list`](crate::Client::list).
    ///
    /// # Errors
    ///
    /// As [`Client::list`](crate::Client::list).
    ///
    /// # Examples
    ///
    /// ```
    /// let client = dlock::blocking::Client::connect("memory://")?;
    /// let lock = client.rw_lock("order:42")?;
    /// let guard = lock.write()?;
    /// for name in client.list("order:*")? {
    ///     for holder in client.rw_lock(&name)?.inspect()?.holders {
    ///         assert!(lock.force_release(&holder.id)?);
    ///     }
    /// }
    /// assert!(guard.release().is_err_and(|error| error.is_lost()));
    /// # Ok::<(), dlock::Error>(())
    /// ```
    pub fn list(&self, pattern: &str) -> Result<Vec<String>, Error> {
        self.client.wait(self.client.list(pattern))?
    }

    /// The sorted names of the mutexes that match `pattern`, as far as they can be distinguished from other strings; see
    /// [`Client::list_mutexes`](crate::Client::list_mutexes).
    ///
    /// # Errors
    ///
    /// As [`Client::list_mutexes`](crate::Client::list_mutexes).
    pub fn list_mutexes(&self, pattern: &str) -> Result<Vec<String>, Error> {
        self.client.wait(self.client.list_mutexes(pattern))?
    }

    /// Lets holders finish, and shuts down; see [`Client::drain`](crate::Client::drain).
    ///
    /// # Errors
    ///
    /// As [`Client::drain`](crate::Client::drain).
    pub fn drain(&self, patience: Duration) -> Result<(), Error> {
        self.client.wait(self.client.drain(patience))?
    }

    /// Ends all holds of this client and its clones; see [`Client::shutdown`](crate::Client::shutdown).
    ///
    /// # Errors
    ///
    /// As [`Client::shutdown`](crate::Client::shutdown).
    pub fn shutdown(&self) -> Result<(), Error> {
        self.client.wait(self.client.shutdown())?
    }
}

/// The methods then wait for the runtime that the client was built on.
impl From<crate::Client> for Client {
    fn from(client: crate::Client) -> Self {
        Self { client }
    }
}

impl From<Client> for crate::Client {
    fn from(client: Client) -> Self {
        client.client
    }
}

impl AsClient for Client {
    fn as_client(&self) -> &crate::Client {
        &self.client
    }
}

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
