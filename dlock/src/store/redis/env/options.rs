//! How to reach Redis.

use std::fmt;
use std::time::Duration;

use super::trust::Trust;
use crate::clock::Instant;
use crate::store::Patience;
use crate::store::redis::address::Address;

/// How to reach and log in to Redis. Its `Debug` never shows the password.
#[derive(Debug, Clone)]
pub struct RedisOptions {
    /// Hosts and ports to start from; any node of a cluster will do.
    pub seeds: Vec<(String, u16)>,
    /// Whether to speak TLS.
    pub tls: bool,
    /// Who is believed to be a server, and what is shown to it.
    pub trust: Trust,
    /// The ACL user; `None` is the default user.
    pub username: Option<String>,
    /// The password.
    pub password: Option<Password>,
    /// The database; most clusters have only 0.
    pub database: i64,
    /// How long one try to connect and log in may take.
    pub connect_timeout: Duration,
    /// How long to wait for an answer before the connection is replaced.
    pub response_timeout: Duration,
    /// The prefix of the locks' keys: rights are probed under it.
    pub prefix: String,
}

impl RedisOptions {
    /// Plain TCP to these seeds, without a password.
    #[must_use]
    pub fn new(seeds: Vec<(String, u16)>) -> Self {
        Self {
            seeds,
            tls: false,
            trust: Trust::default(),
            username: None,
            password: None,
            database: 0,
            connect_timeout: Duration::from_millis(500),
            response_timeout: Duration::from_secs(1),
            prefix: "dlock".to_owned(),
        }
    }

    /// The addresses to start from, each once.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        let mut addresses = Vec::with_capacity(self.seeds.len());
        for (host, port) in &self.seeds {
            let address = Address::new(host, *port);
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        addresses
    }

    /// How long a server may take that is slow and not silent: it has taken a connection and is to answer the login, or it
    /// answers other requests meanwhile. With too short a time, servers and clients that share too few processors would do
    /// nothing but begin.
    pub(crate) fn slow_timeout(&self) -> Duration {
        self.connect_timeout.max(3 * self.response_timeout)
    }

    /// How long to wait for the answer to a request that leaves at `sent`.
    pub(crate) fn patience(&self, sent: Instant, deadline: Instant) -> Patience {
        Patience {
            until: deadline.min(sent + self.response_timeout),
            latest: deadline.min(sent + self.slow_timeout()),
        }
    }

    /// Whether to talk to a server that one of a cluster's nodes names. Seeds are never strangers, nor is a node's own host.
    pub(crate) fn trusts(&self, named: &Address, by: &Address) -> bool {
        named.host == by.host
            || self.seeds.iter().any(|(host, _)| **host == *named.host)
            || self.trust.allows(named)
    }

    /// The user's name, for error messages.
    pub(crate) fn user(&self) -> &str {
        self.username.as_deref().unwrap_or("default")
    }
}

/// A password; its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Wraps a password.
    #[must_use]
    pub fn new(password: impl Into<String>) -> Self {
        Self(password.into())
    }

    /// The password itself, to log in with.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
