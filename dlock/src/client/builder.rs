//! The builder of clients, and their settings.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::Client;
use super::handle::Inner;
use super::home::name_and_pid;
use crate::error::{Error, ErrorKind, Written};
use crate::key::check_prefix;
use crate::lease::{DEFAULT_LEASE, Millis, check_lease, check_linger};
use crate::protocol::ClientId;
use crate::store::{Pem, Store, Timeouts, Trust};
use crate::{metrics, tasks};

/// Settings for a [`Client`]. [`Client::builder`] returns it.
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
    pub(super) url: Option<String>,
    pub(super) quorum: Option<Vec<String>>,
    pub(super) name: Option<String>,
    pub(super) config: Config,
    /// Why the environment could not be read.
    pub(super) unreadable: Option<String>,
    /// Whether the default URL does not do, as settings are from the environment.
    pub(super) asks_for_servers: bool,
}

impl ClientBuilder {
    pub(crate) fn new() -> Self {
        Self {
            url: None,
            quorum: None,
            name: None,
            config: Config::default(),
            unreadable: None,
            asks_for_servers: false,
        }
    }

    /// The URL of the server. Default: `memory://`, a store of this client's own.
    ///
    /// * `redis://[user:password@]host[:port][,host:port…][/database]`: one Redis or Valkey, or a cluster; the client finds out which.
    ///   Several hosts are seeds, tried in turn. Most clusters have database 0 only. Outside a cluster the seeds are a master and its
    ///   replicas, and the client uses the master; two masters are an error. The client leaves its master when that says that it is
    ///   a replica, or [has not answered for too long](crate::guide::operations#servers), and only for exactly one other master.
    /// * `rediss://…`: over TLS (cargo feature `tls`)
    /// * `redis[s]://…?trusted_hosts=10.0.*,*.internal`, `rediss://…?tls_ca_file=…&tls_cert_file=…&tls_key_file=…`: see
    ///   [`trusted_hosts`](Self::trusted_hosts), [`tls_ca_file`](Self::tls_ca_file) and
    ///   [`tls_client_files`](Self::tls_client_files)
    /// * `memory://name`: a store in memory, shared by all clients of this process that use the name
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Keeps each lock on a majority of several independent servers (Redlock), instead of on the server of [`url`](Self::url): 3 to 31
    /// URLs, of five single servers or three clusters, for example. A lock outlasts the failure of any minority. All clients must name the
    /// same servers. Read the [guide](crate::guide::operations#quorum) first: it lists the conditions.
    ///
    /// Waiters do not queue. They retry at random times, so there is no order among waiters, and readers that follow each other without
    /// a gap can starve a writer.
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

    /// The readable part of this client's hold ids, which `inspect` shows. Default: host name and process id. The client keeps letters,
    /// digits and `.:_-`, and cuts the name after 24 characters.
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How long a hold lasts without a renewal, and so how long a crashed holder blocks the lock. 200 ms to 24 h. Default: 30 s. The
    /// client renews after a third of it.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.config.lease = lease;
        self
    }

    /// How long this process keeps a read/write lock after its last task has released it, for its next task; see
    /// [`RwLock::linger`](crate::RwLock::linger). At most 60 s. Default: not at all.
    pub fn linger(mut self, linger: Duration) -> Self {
        self.config.linger = Millis::of(linger);
        self
    }

    /// How long the client renews a hold before the hold is lost; at least the lease. Default: without limit.
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.config.max_hold = Some(max_hold);
        self
    }

    /// The start of all keys and channels: 1 to 64 letters (a to z), digits, `-`, `_`, `.` and `/`. Default: `dlock`. Clients with different
    /// prefixes share no lock, and the server's access rules can separate them (`~shop:*`).
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.config.prefix = prefix.into();
        self
    }

    /// How long an operation retries while servers fail or do not answer, as during a failover. It does not limit the wait for a held
    /// lock. 1 ms to 1 h, at least the response timeout. Default: 10 s.
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

    /// How long a server may take for one answer. 1 ms to 1 h. Default: 1 s. If an answer is late and the connection delivers nothing
    /// else, the client opens another connection to the server, and sends the request again if that one is ready first. It does so
    /// later, after up to four times as long, if the server was slow a short time ago.
    pub fn response_timeout(mut self, timeout: Duration) -> Self {
        self.config.timeouts.response = timeout;
        self
    }

    /// A PEM file of the authorities that sign certificates of `rediss://` servers. Default: the platform's authorities.
    pub fn tls_ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.config.trust.authorities = Some(Pem::File(file.into()));
        self
    }

    /// The text of such a PEM file, instead of [`tls_ca_file`](Self::tls_ca_file).
    pub fn tls_ca_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.config.trust.authorities = Some(Pem::Text(pem.into()));
        self
    }

    /// The client's certificate for `rediss://` servers (with its chain), and its key without a passphrase: two PEM files. The client
    /// reads changed files again for its next connection. Default: none.
    pub fn tls_client_files(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        let identity = (Pem::File(certificate.into()), Pem::File(key.into()));
        self.config.trust.identity = Some(identity);
        self
    }

    /// The texts of such PEM files, instead of [`tls_client_files`](Self::tls_client_files).
    pub fn tls_client_pem(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        let identity = (Pem::Text(certificate.into()), Pem::Text(key.into()));
        self.config.trust.identity = Some(identity);
        self
    }

    /// Hosts that the cluster may redirect to. They receive the password. Names or addresses, with `*` for any characters (`10.0.*`,
    /// `*.redis.internal`). Default: any. The hosts of the URL are always allowed. Over TLS a server must also have a certificate for its
    /// name. Outside a cluster the client connects only to the hosts of the URL.
    pub fn trusted_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.config.trust.hosts = Trust::hosts(hosts);
        self
    }

    /// Connects. A thread that all clients of this process share runs the background tasks. The current Tokio runtime drives the
    /// connections while it makes progress, and otherwise that thread does. So a client works on any runtime, on several runtimes, and on
    /// executors other than Tokio's. A Tokio runtime must have timers (`enable_all`, as its macros do).
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`](crate::ErrorKind::InvalidConfig) for a setting out of range or an invalid URL;
    /// [`Unavailable`](crate::ErrorKind::Unavailable) if no seed answers within `retry_for`, or no majority of a quorum;
    /// [`Unauthorized`](crate::ErrorKind::Unauthorized) for a wrong password, a missing right, or a certificate that one side rejects.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connections.
    pub async fn build(self) -> Result<Client, Error> {
        self.open().await.inspect_err(metrics::failed)
    }

    async fn open(self) -> Result<Client, Error> {
        if let Some(why) = self.unreadable {
            return Err(Error::new(ErrorKind::InvalidConfig, why));
        }
        if self.asks_for_servers && self.url.is_none() && self.quorum.is_none() {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                "the variable DLOCK_URL is absent, and the builder has no `url` or `quorum`; set one of them",
            ));
        }
        self.config.check()?;
        if self.quorum.is_some() && self.config.linger.is_some() {
            return Err(Error::no_linger_in_quorum());
        }
        tasks::start().map_err(|error| Error::no_thread(&error))?;
        let name = self.name.unwrap_or_else(name_and_pid);
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
        let places: Vec<_> = self
            .quorum
            .iter()
            .flatten()
            .chain(&self.url)
            .map(|url| place(url))
            .collect();
        f.debug_struct("ClientBuilder")
            .field("urls", &places)
            .field("name", &self.name)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// The part of a URL that cannot be a password: what follows the last `@`, or servers with the number of a port or none.
fn place(url: &str) -> &str {
    if let Some((_, servers)) = url.rsplit_once('@') {
        return servers;
    }
    let servers = url.split_once("://").map_or(url, |(_, servers)| servers);
    let is_server = |server: &str| {
        let port = server.rsplit_once(':').map_or("", |(_, port)| port);
        let port = port.split(['/', '?']).next().unwrap_or_default();
        port.bytes().all(|byte| byte.is_ascii_digit())
    };
    if servers.split(',').all(is_server) {
        url
    } else {
        "(hidden)"
    }
}

/// What a client was built with.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(super) prefix: String,
    pub(super) lease: Duration,
    pub(super) max_hold: Option<Duration>,
    pub(super) linger: Option<Millis>,
    pub(super) timeouts: Timeouts,
    pub(super) trust: Trust,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            prefix: "dlock".into(),
            lease: DEFAULT_LEASE,
            max_hold: None,
            linger: None,
            timeouts: Timeouts {
                retry_for: Duration::from_secs(10),
                connect: Duration::from_millis(500),
                response: Duration::from_secs(1),
            },
            trust: Trust::default(),
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), Error> {
        check_prefix(&self.prefix)?;
        check_lease(self.lease, self.max_hold)?;
        self.linger.map_or(Ok(()), check_linger)?;
        let Timeouts {
            retry_for,
            connect,
            response,
        } = self.timeouts;
        for (name, value) in [
            ("retry_for", retry_for),
            ("connect_timeout", connect),
            ("response_timeout", response),
        ] {
            if value < Duration::from_millis(1) || value > Duration::from_secs(3600) {
                return Err(Error::new(
                    ErrorKind::InvalidConfig,
                    format!("{name} is {}; choose between 1ms and 1h", Written(value)),
                ));
            }
        }
        if retry_for < response {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                format!(
                    "retry_for ({}) is shorter than response_timeout ({}), so that nothing would ever be retried; \
                     raise the one or lower the other",
                    Written(retry_for),
                    Written(response)
                ),
            ));
        }
        Ok(())
    }
}
