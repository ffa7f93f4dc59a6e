//! The URL that a client is made from, and where a store is, with all that was said of it.

use std::sync::Arc;

use super::redis::{RedisOptions, Trust, read_url};
use super::{MemoryStore, Site, Timeouts};
use crate::error::{Error, ErrorKind};

/// Where the locks live.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// In this process, under a name.
    Memory(String),
    /// On Redis.
    Redis(Box<RedisOptions>),
}

impl Endpoint {
    /// Reads `memory://[name]` or
    /// `redis[s]://[user:password@]host[:port][,host[:port]…][/database][?parameter=value[&…]]`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidConfig`], with what to write instead. The text never repeats the part of the URL that
    /// could be a password.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let invalid = |message| Err(Error::new(ErrorKind::InvalidConfig, message));
        let Some((scheme, rest)) = url.trim().split_once("://") else {
            return invalid(
                "the URL has no scheme; write `redis://host:port` or `memory://`".to_owned(),
            );
        };
        let scheme = scheme.to_ascii_lowercase();
        match scheme.as_str() {
            "memory" => Ok(Self::Memory(rest.to_owned())),
            "redis" | "rediss" | "valkey" | "valkeys" => {
                read_url(&scheme, rest).map(|options| Self::Redis(Box::new(options)))
            }
            other => invalid(format!(
                "unknown URL scheme `{}://`; use `redis://` or `valkey://`, with TLS `rediss://` or `valkeys://`, or `memory://`",
                other.chars().take(20).collect::<String>()
            )),
        }
    }
}

impl Endpoint {
    /// Adds the settings that are not in the URL.
    pub(super) fn trusting(self, besides: Trust) -> Result<Self, Error> {
        let invalid = |message: String| Err(Error::new(ErrorKind::InvalidConfig, message));
        let mut options = match self {
            Self::Memory(_) if besides.wants_tls() || !besides.hosts.is_empty() => {
                return invalid(
                    "`memory://` has no servers, so there are no certificates or hosts to trust"
                        .to_owned(),
                );
            }
            Self::Memory(name) => return Ok(Self::Memory(name)),
            Self::Redis(options) => options,
        };
        let trust = &mut options.trust;
        for (name, twice) in [
            (
                "tls_ca_file",
                trust.authorities.is_some() && besides.authorities.is_some(),
            ),
            (
                "tls_client_files",
                trust.identity.is_some() && besides.identity.is_some(),
            ),
            (
                "trusted_hosts",
                !trust.hosts.is_empty() && !besides.hosts.is_empty(),
            ),
        ] {
            if twice {
                return invalid(format!(
                    "the URL and the builder both say `{name}`; leave one out"
                ));
            }
        }
        trust.authorities = trust.authorities.take().or(besides.authorities);
        trust.identity = trust.identity.take().or(besides.identity);
        trust.hosts.extend(besides.hosts);
        if trust.wants_tls() && !options.tls {
            return invalid("certificates are of no use without TLS; write `rediss://`".to_owned());
        }
        Ok(Self::Redis(options))
    }
}

/// How many servers a quorum has: with fewer, none may fail; more do not make the lock safer.
const FEWEST: usize = 3;
const MOST: usize = 31;

/// The site of one URL.
pub(super) fn site(
    url: &str,
    prefix: &str,
    timeouts: Timeouts,
    trust: Trust,
) -> Result<Site, Error> {
    match Endpoint::parse(url)?.trusting(trust)? {
        Endpoint::Memory(name) if name.is_empty() => Ok(Site::Memory(Arc::new(MemoryStore::new()))),
        Endpoint::Memory(name) => Ok(Site::Memory(MemoryStore::named(&name))),
        Endpoint::Redis(mut options) => {
            prefix.clone_into(&mut options.prefix);
            options.connect_timeout = timeouts.connect;
            options.response_timeout = timeouts.response;
            Ok(Site::Redis(options))
        }
    }
}

/// The sites of a quorum.
pub(super) fn sites(
    urls: &[String],
    prefix: &str,
    timeouts: Timeouts,
    trust: &Trust,
) -> Result<Vec<Site>, Error> {
    let invalid = |message| Err(Error::new(ErrorKind::InvalidConfig, message));
    if !(FEWEST..=MOST).contains(&urls.len()) {
        return invalid(format!(
            "a quorum needs {FEWEST} to {MOST} independent servers, got {}",
            urls.len()
        ));
    }
    let mut sites = Vec::new();
    for (number, url) in urls.iter().enumerate() {
        let site = site(url, prefix, timeouts, trust.clone())?;
        if sites.iter().any(|other| is_same(other, &site)) {
            return invalid(format!(
                "URL {} of the quorum names a server that is in it already; each counts once",
                number + 1
            ));
        }
        sites.push(site);
    }
    if urls.iter().any(|url| is_own(url)) && !urls.iter().all(|url| is_own(url)) {
        return invalid(
            "`memory://` is this client's own, so that it cannot be a part of a quorum with what others share; name it, \
             as in `memory://a`"
                .to_owned(),
        );
    }
    Ok(sites)
}

/// Whether it is a memory store that no other client can use.
fn is_own(url: &str) -> bool {
    matches!(Endpoint::parse(url), Ok(Endpoint::Memory(name)) if name.is_empty())
}

/// Whether both are the same place, or have a server in common.
fn is_same(one: &Site, other: &Site) -> bool {
    match (one, other) {
        (Site::Memory(one), Site::Memory(other)) => Arc::ptr_eq(one, other),
        (Site::Redis(one), Site::Redis(other)) => {
            one.database == other.database
                && one.seeds.iter().any(|seed| other.seeds.contains(seed))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;
    use crate::store::{Pem, RedisOptions};

    fn redis(url: &str) -> RedisOptions {
        match Endpoint::parse(url).expect(url) {
            Endpoint::Redis(options) => *options,
            Endpoint::Memory(_) => panic!("{url}"),
        }
    }

    #[test]
    fn seeds_are_read_in_every_spelling() {
        let two = vec![("a".to_owned(), 7000), ("b".to_owned(), 6379)];
        for url in [
            "redis://a:7000,b",
            "redis://a:7000,redis://b:6379",
            "valkey://a:7000,b/",
            "REDIS://a:7000,b",
        ] {
            assert_eq!(redis(url).seeds, two, "{url}");
        }
        assert_eq!(
            redis("redis://[::1]:7000,[fe80::1]").seeds,
            [("::1".to_owned(), 7000), ("fe80::1".to_owned(), 6379)]
        );
    }

    #[test]
    fn logins_are_decoded_and_never_shown() {
        let options = redis("redis://app:p%40s%2Cs%25@h:1,app:p%40s%2Cs%25@i:2/3");
        assert_eq!(options.username.as_deref(), Some("app"));
        assert_eq!(options.password.as_ref().expect("given").reveal(), "p@s,s%");
        assert_eq!((options.seeds.len(), options.database), (2, 3));
        assert!(!format!("{options:?}").contains("p@s"));
        let options = redis("redis://:secret@h");
        assert_eq!((options.username, options.password.is_some()), (None, true));
    }

    #[test]
    fn parameters_say_whom_to_trust() {
        let url = "redis://u:p?w@a:1,b:2/3?tls_ca_file=/etc/my%20ca.pem&trusted_hosts=10.0.*,,c%2Cd&trusted_hosts=e";
        let options = redis(url);
        assert_eq!((options.seeds.len(), options.database), (2, 3));
        let file = |name: &str| Some(Pem::File(name.into()));
        assert_eq!(options.trust.authorities, file("/etc/my ca.pem"));
        assert_eq!(options.trust.hosts, ["10.0.*", "c", "d", "e"]);
        let identity = redis("redis://h?tls_key_file=k&tls_cert_file=c")
            .trust
            .identity;
        assert_eq!(
            identity.map(|(cert, key)| (Some(cert), Some(key))),
            Some((file("c"), file("k")))
        );
    }

    #[test]
    fn every_fault_says_what_to_write() {
        for (url, says) in [
            ("localhost:6379", "redis://host:port"),
            ("http://h", "unknown URL scheme `http://`"),
            ("redis://", "empty host"),
            ("redis://a,,b", "empty host"),
            ("redis://a,memory://", "same scheme"),
            ("redis://h:0", "1 to 65535"),
            ("redis://h:70000", "1 to 65535"),
            ("redis://h:1:2", "1 to 65535"),
            ("redis://[::1", "brackets"),
            ("redis://h/x", "database"),
            ("redis://h/-1", "database"),
            ("redis://h?protocol=resp3", "`trusted_hosts`"),
            ("redis://h?secret", "`trusted_hosts`"),
            ("redis://u:secr?t@h?x", "`trusted_hosts`"),
            ("redis://u:secret@h#?trusted_hosts=x", "%23"),
            ("redis://h?tls_cert_file=x", "both"),
            ("redis://h?tls_key_file=x", "both"),
            ("redis://h?tls_ca_file=x&tls_ca_file=y", "two"),
            ("redis://h?tls_ca_file=%", "%25"),
            ("redis://secret@h", "no password"),
            ("redis://u:%zz@h", "%25"),
            ("redis://u:%ff@h", "UTF-8"),
            ("redis://u:secret@a,v:secret@b", "different logins"),
            ("redis://a/1,b/2", "different databases"),
            ("redis://a/1,b,c/0", "different databases"),
            ("redis://u:secr/et@h:x", "1 to 65535"),
            ("redis://u:secr,secret@h", "1 to 65535"),
        ] {
            let error = Endpoint::parse(url).expect_err(url);
            assert!(error.is_invalid(), "{url}");
            let text = format!("{error} {error:?}");
            assert!(text.contains(says), "{url}: {text}");
            assert!(!text.contains("secr"), "{url}: {text}");
        }
        if !cfg!(feature = "tls") {
            let error = Endpoint::parse("rediss://h").expect_err("no TLS");
            assert!(error.to_string().contains("feature `tls`"), "{error}");
        }
    }
}
