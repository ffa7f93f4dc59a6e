//! The URL a client is made from.

use super::redis::{RedisOptions, read_url};
use crate::error::{Error, ErrorKind};

/// Where the locks live.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// In this process, under a name.
    Memory(String),
    /// On Redis.
    Redis(RedisOptions),
}

impl Endpoint {
    /// Reads `memory://[name]` or `redis[s]://[user:password@]host[:port][,host[:port]…][/database]`.
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
        match scheme {
            "memory" => Ok(Self::Memory(rest.to_owned())),
            "redis" | "rediss" | "valkey" | "valkeys" => read_url(scheme, rest).map(Self::Redis),
            other => invalid(format!(
                "unknown URL scheme `{}://`; use `redis://`, `rediss://` (TLS) or `memory://`",
                other.chars().take(20).collect::<String>()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;
    use crate::store::RedisOptions;

    fn redis(url: &str) -> RedisOptions {
        match Endpoint::parse(url).expect(url) {
            Endpoint::Redis(options) => options,
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
            ("redis://h?protocol=resp3", "no parameters"),
            ("redis://secret@h", "no password"),
            ("redis://u:%zz@h", "%25"),
            ("redis://u:%ff@h", "UTF-8"),
            ("redis://u:secret@a,v:secret@b", "different logins"),
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
