//! How to reach Redis, and which servers to trust.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use wildmatch::WildMatch;

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
    /// Which servers are trusted, and which certificate they are shown.
    pub trust: Trust,
    /// The ACL user; `None` is the default user.
    pub username: Option<String>,
    /// The password.
    pub password: Option<Password>,
    /// The database; most clusters have only 0.
    pub database: i64,
    /// How long one try to connect and log in may take.
    pub connect_timeout: Duration,
    /// How long an answer may take: later, the connection is in doubt if it delivers nothing.
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

    /// How long a server may take for the login after it has accepted a connection. With too short a time, servers and clients
    /// that share too few processors would do nothing but begin.
    pub(crate) fn slow_timeout(&self) -> Duration {
        self.connect_timeout.max(3 * self.response_timeout)
    }

    /// How long to wait for the answer to a request that leaves at `sent`: as long as there is time, unless its connection is
    /// given up.
    pub(crate) fn patience(&self, sent: Instant, deadline: Instant) -> Patience {
        Patience {
            until: deadline.min(sent + self.response_timeout),
            latest: deadline,
        }
    }

    /// How long to wait for the answer about a subscription that is asked for now. The other subscriptions of the connection
    /// would be lost with it.
    pub(crate) fn long_patience(&self, now: Instant) -> Patience {
        Patience {
            until: now + self.slow_timeout(),
            latest: now + 10 * self.slow_timeout(),
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

/// Which servers are believed to be what they say, and what this client shows them.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// The authorities that vouch for servers; `None` for those that the platform trusts.
    pub authorities: Option<Pem>,
    /// The client's certificate and its key.
    pub identity: Option<(Pem, Pem)>,
    /// Patterns of hosts that a cluster may name; any, if there are none.
    pub hosts: Vec<String>,
}

/// Certificates or a key in PEM.
#[derive(Clone, PartialEq, Eq)]
pub enum Pem {
    /// In a file, which is read again when it has changed.
    File(PathBuf),
    /// As it is.
    Text(Vec<u8>),
}

impl Trust {
    /// Whether there is anything that only makes sense with TLS.
    pub(crate) fn wants_tls(&self) -> bool {
        self.authorities.is_some() || self.identity.is_some()
    }

    /// Patterns of hosts, however they were separated.
    pub(crate) fn hosts(given: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
        let trimmed = |host: String| host.trim().to_owned();
        given.into_iter().map(Into::into).map(trimmed).collect()
    }

    /// Whether a cluster may name this host.
    pub(super) fn allows(&self, named: &Address) -> bool {
        let host = named.host.to_lowercase();
        let matches = |pattern: &String| WildMatch::new(&pattern.to_lowercase()).matches(&host);
        self.hosts.is_empty() || self.hosts.iter().any(matches)
    }
}

impl fmt::Debug for Pem {
    /// A key shows up nowhere.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.fmt(f),
            Self::Text(_) => f.write_str("***"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Trust;
    use crate::store::redis::address::Address;

    #[test]
    fn hosts_are_compared_as_hosts_are() {
        let allows = |hosts: &[&str], host| {
            let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
            let trust = Trust {
                hosts,
                ..Trust::default()
            };
            trust.allows(&Address::new(host, 7000))
        };
        assert!(allows(&[], "anybody"));
        let ours = ["10.0.*", "*.Redis.internal", "::1"];
        for host in ["10.0.3.4", "a.redis.INTERNAL", "::1"] {
            assert!(allows(&ours, host), "{host}");
        }
        for host in ["10.1.0.1", "redis.internal", "a.redis.internal.evil", ""] {
            assert!(!allows(&ours, host), "{host}");
        }
    }
}
