//! Whom a client talks to, and who it is to them.

use std::fmt;
use std::path::PathBuf;

use wildmatch::WildMatch;

use crate::store::redis::address::Address;

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
