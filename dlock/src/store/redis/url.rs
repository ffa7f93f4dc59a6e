//! The URL a client is made from.

use super::options::{Password, RedisOptions};
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
        let Some((scheme, rest)) = url.trim().split_once("://") else {
            return invalid(
                "the URL has no scheme; write `redis://host:port` or `memory://`".to_owned(),
            );
        };
        let tls = match scheme {
            "memory" => return Ok(Self::Memory(rest.to_owned())),
            "redis" | "valkey" => false,
            "rediss" | "valkeys" => true,
            other => {
                return invalid(format!(
                    "unknown URL scheme `{}://`; use `redis://`, `rediss://` (TLS) or `memory://`",
                    short(other)
                ));
            }
        };
        if tls && !cfg!(feature = "tls") {
            return invalid(format!(
                "`{scheme}://` needs TLS: enable the feature `tls` of the crate `dlock`"
            ));
        }
        let mut options = RedisOptions::new(Vec::new());
        options.tls = tls;
        for part in rest.split(',') {
            // Some write the scheme before every seed.
            let part = match part.split_once("://") {
                Some((again, part)) if again == scheme => part,
                Some(_) => {
                    return invalid("all seeds of a URL must have the same scheme".to_owned());
                }
                None => part,
            };
            read_seed(part, &mut options)?;
        }
        Ok(Self::Redis(options))
    }
}

/// Reads `[user:password@]host[:port][/database]`.
fn read_seed(part: &str, options: &mut RedisOptions) -> Result<(), Error> {
    let (login, place) = match part.rsplit_once('@') {
        Some((login, place)) => (Some(login), place),
        None => (None, part),
    };
    if let Some(login) = login {
        read_login(login, options)?;
    }
    if place.contains(['?', '#']) {
        return invalid(
            "a URL takes no parameters; use the client's builder, and write `?` and `#` in a password \
             as `%3F` and `%23`"
                .to_owned(),
        );
    }
    let (place, database) = match place.split_once('/') {
        Some((place, database)) => (place, database),
        None => (place, ""),
    };
    if !database.is_empty() {
        options.database = match database.parse() {
            Ok(database @ 0..) => database,
            _ => {
                return invalid(
                    "what follows the `/` in the URL is no database number; write for example \
                     `redis://host:6379/0`, and a `/` in a password as `%2F`"
                        .to_owned(),
                );
            }
        };
    }
    options.seeds.push(read_place(place)?);
    Ok(())
}

fn read_login(login: &str, options: &mut RedisOptions) -> Result<(), Error> {
    let Some((user, password)) = login.split_once(':') else {
        return invalid(
            "the URL's login has no password; write `user:password@host`, or `:password@host` for the \
             default user"
                .to_owned(),
        );
    };
    let (user, password) = (decode(user)?, decode(password)?);
    let user = (!user.is_empty()).then_some(user);
    let password = Password::new(password);
    let known = options.password.is_some();
    if known && (options.username != user || options.password.as_ref() != Some(&password)) {
        return invalid(
            "the seeds of the URL have different logins; a cluster has one, so write it once, before \
             the first seed"
                .to_owned(),
        );
    }
    options.username = user;
    options.password = Some(password);
    Ok(())
}

fn read_place(place: &str) -> Result<(String, u16), Error> {
    let (host, port) = if let Some(rest) = place.strip_prefix('[') {
        match rest.split_once(']') {
            Some((host, "")) => (host, None),
            Some((host, port)) if port.starts_with(':') => (host, Some(&port[1..])),
            _ => {
                return invalid(
                    "an IPv6 address stands in brackets: `redis://[::1]:6379`".to_owned(),
                );
            }
        }
    } else {
        match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        }
    };
    if host.is_empty() {
        return invalid(
            "the URL has an empty host; write `redis://host:port`, several seeds as \
             `redis://a:7000,b:7001`"
                .to_owned(),
        );
    }
    let port = match port.map(str::parse) {
        None => 6379,
        Some(Ok(port @ 1..)) => port,
        Some(_) => {
            return invalid(
                "the URL has a port that is no number from 1 to 65535; write `redis://host:6379`, and \
                 `:`, `@`, `,` and `/` in a password as `%3A`, `%40`, `%2C` and `%2F`"
                    .to_owned(),
            );
        }
    };
    Ok((host.to_owned(), port))
}

/// Undoes percent-encoding.
fn decode(text: &str) -> Result<String, Error> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let byte = part.get(..2).map(|hex| u8::from_str_radix(hex, 16));
        let Some(Ok(byte)) = byte else {
            return invalid(
                "a `%` in the URL's login is not followed by two hexadecimal digits; write it as `%25`"
                    .to_owned(),
            );
        };
        bytes.push(byte);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes)
        .or_else(|_| invalid("the URL's login is not UTF-8 after percent-decoding".to_owned()))
}

fn short(text: &str) -> String {
    text.chars().take(20).collect()
}

fn invalid<T>(message: String) -> Result<T, Error> {
    Err(Error::new(ErrorKind::InvalidConfig, message))
}

#[cfg(test)]
mod tests {
    use super::Endpoint;
    use crate::store::redis::options::RedisOptions;

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
