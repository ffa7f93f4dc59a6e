//! Making a client.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::config::Config;
use super::inner::Inner;
use super::{Client, host};
use crate::error::{Error, ErrorKind};
use crate::metrics;
use crate::protocol::ClientId;
use crate::store::{Pem, Store};
use crate::tasks;

/// Settings for a [`Client`]; made by [`Client::builder`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dlock::Error> {
/// use std::time::Duration;
///
/// let client = dlock::Client::builder()
///     .url("memory://")
///     .lease(Duration::from_secs(10))
///     .prefix("shop")
///     .build()
///     .await?;
/// assert_eq!(client.rw_lock("order:42")?.key().as_str(), "shop:{order:42}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "nothing happens until `build` is awaited"]
pub struct ClientBuilder {
    url: Option<String>,
    quorum: Option<Vec<String>>,
    name: Option<String>,
    config: Config,
}

impl ClientBuilder {
    pub(crate) fn new() -> Self {
        Self {
            url: None,
            quorum: None,
            name: None,
            config: Config::default(),
        }
    }

    /// Where the locks live. Default: `memory://`, a store of this client's own.
    ///
    /// * `redis://[user:password@]host[:port][,host:port…][/database]`: one Redis or Valkey, or a
    ///   cluster, which is recognised; several seeds are tried in turn (most clusters have
    ///   database 0 only). Outside of a cluster they are a master and its replicas, and the master is
    ///   used; two masters are an error. A client stays with its master until that says that it is a replica now,
    ///   or [has not answered for too long](crate::guide::operations#servers), and then goes over to the only
    ///   other one, if there is just one.
    /// * `rediss://…`: the same through TLS (cargo feature `tls`)
    /// * `redis[s]://…?trusted_hosts=10.0.*,*.internal`, `rediss://…?tls_ca_file=…&tls_cert_file=…&tls_key_file=…`: as
    ///   [`trusted_hosts`](Self::trusted_hosts), [`tls_ca_file`](Self::tls_ca_file) and
    ///   [`tls_client_files`](Self::tls_client_files)
    /// * `memory://name`: shared by all clients of this process that use the name
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Has each lock on most of several servers that have nothing in common (Redlock), instead of on the one of
    /// [`url`](Self::url): three or more URLs of any kind, such as five single servers, or three clusters. A lock is held
    /// while more than half of them say so, so it outlasts the failure of the others, without a replica that might have
    /// missed it. All clients have to name the same servers. Read [what that gives, and what it does
    /// not](crate::guide::operations#quorum) before.
    ///
    /// Nobody stands in line: who waits asks again and again, at random times, so there is no order among waiters, and
    /// readers who follow one another without a gap can keep a writer out.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// let client = dlock::Client::builder()
    ///     .quorum(["memory://a", "memory://b", "memory://c"]) // redis://a.example, redis://b.example, …
    ///     .build()
    ///     .await?;
    /// let guard = client.rw_lock("order:42")?.write().await?;
    /// guard.release().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn quorum(mut self, urls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.quorum = Some(urls.into_iter().map(Into::into).collect());
        self
    }

    /// The readable part of this client's hold ids, shown by `inspect`. Default: host name and
    /// process id. Letters, digits and `.:_-` are kept, at most 24.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How long a hold lasts without a renewal, which is how long a crashed holder keeps others
    /// out. 200 ms to 24 h. Default: 30 s. Renewed at about a third of it.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.config.lease = lease;
        self
    }

    /// How long a hold renews itself before it is given up as lost; at least the lease. Default:
    /// for ever.
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.config.max_hold = Some(max_hold);
        self
    }

    /// What keys and channels start with: 1 to 64 letters (a to z), digits, `-`, `_`, `.` and `/`. Default: `dlock`.
    /// Clients that share locks share the prefix; those of two prefixes have nothing in common, and the server can keep
    /// them apart (`~shop:*`).
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.config.prefix = prefix.into();
        self
    }

    /// How long an operation is tried again while servers fail or do not answer, as during a
    /// failover; not how long to wait for a held lock. 1 ms to 1 h, at least the response
    /// timeout. Default: 10 s.
    pub fn retry_for(mut self, retry_for: Duration) -> Self {
        self.config.timeouts.retry_for = retry_for;
        self
    }

    /// How long a server may take to accept a connection. 1 ms to 1 h. Default: 500 ms. The login may take three times the
    /// [response timeout](Self::response_timeout), if that is longer.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.config.timeouts.connect = timeout;
        self
    }

    /// How long a server may take for one answer before the request is sent again. 1 ms to 1 h.
    /// Default: 1 s. Up to three times as long (or the [connect timeout](Self::connect_timeout), if that is longer) while the
    /// server answers other requests, or has answered the last ones late.
    pub fn response_timeout(mut self, timeout: Duration) -> Self {
        self.config.timeouts.response = timeout;
        self
    }

    /// The authorities that vouch for servers of `rediss://`, in a file in PEM. Default: those that the platform trusts.
    pub fn tls_ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.config.trust.authorities = Some(Pem::File(file.into()));
        self
    }

    /// The same, as the text of such a file.
    pub fn tls_ca_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.config.trust.authorities = Some(Pem::Text(pem.into()));
        self
    }

    /// The certificate that this client shows to servers of `rediss://` (with those that lead to an authority), and its
    /// key without a passphrase: two files in PEM. They are read again when they have changed, for the next connection.
    /// Default: none.
    pub fn tls_client_files(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        let identity = (Pem::File(certificate.into()), Pem::File(key.into()));
        self.config.trust.identity = Some(identity);
        self
    }

    /// The same, as the texts of such files.
    pub fn tls_client_pem(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        let identity = (Pem::Text(certificate.into()), Pem::Text(key.into()));
        self.config.trust.identity = Some(identity);
        self
    }

    /// The hosts to which nodes of a cluster may send this client, and so its password: names or addresses, with `*`
    /// for any characters (`10.0.*`, `*.redis.internal`). Default: any. The hosts of the URL always count. Over TLS a
    /// server has to show a certificate for its name as well; outside of a cluster a client goes nowhere else.
    pub fn trusted_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.config.trust.hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Connects. The client's background tasks run on a thread that all clients of this process share. Its connections
    /// are driven by the current Tokio runtime, for as long as that lasts and gets on, and otherwise by that thread;
    /// so a client may be used on any runtime, on several, and on executors other than Tokio's. A runtime of Tokio's has to
    /// have timers (`enable_all`, as its macros do).
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`](crate::ErrorKind::InvalidConfig) for a setting out of range or a URL that
    /// cannot be read; [`Unavailable`](crate::ErrorKind::Unavailable) when no seed answers within
    /// `retry_for`, or no majority of a quorum; [`Unauthorized`](crate::ErrorKind::Unauthorized) for a wrong password, a
    /// missing right, or a certificate that one side does not accept.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes what was opened.
    pub async fn build(self) -> Result<Client, Error> {
        self.open().await.inspect_err(metrics::failed)
    }

    async fn open(self) -> Result<Client, Error> {
        self.config.check()?;
        tasks::start().map_err(|error| Error::no_thread(&error))?;
        let name = self.name.unwrap_or_else(host::name_and_pid);
        let id = ClientId::new(&name);
        let Config {
            prefix,
            timeouts,
            trust,
            ..
        } = &self.config;
        let store = match (&self.url, &self.quorum) {
            (Some(_), Some(_)) => {
                return Err(Error::new(
                    ErrorKind::InvalidConfig,
                    "the builder has both a `url` and a `quorum`; leave one out",
                ));
            }
            (url, None) => {
                let url = url.as_deref().unwrap_or("memory://");
                Store::open(url, prefix, *timeouts, trust.clone(), &id).await?
            }
            (None, Some(urls)) => Store::open_quorum(urls, prefix, *timeouts, trust, &id).await?,
        };
        Ok(Client::new(Inner::start(self.config, id, store)))
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What stands before the last `@` may be a password.
        let place = |url: &str| url.rsplit('@').next().map(str::to_owned);
        let quorum = self.quorum.iter().flatten();
        let places: Vec<_> = quorum
            .chain(&self.url)
            .filter_map(|url| place(url))
            .collect();
        f.debug_struct("ClientBuilder")
            .field("urls", &places)
            .field("name", &self.name)
            .field("config", &self.config)
            .finish()
    }
}
