//! The URL of Redis servers.

use super::env::{Password, Pem, RedisOptions, Trust};
use crate::error::{Error, ErrorKind};

/// Reads what follows the scheme: `[user:password@]host[:port][,host[:port]…][/database][?parameter=value[&…]]`.
///
/// No error repeats a part of the URL that could be a password.
pub(crate) fn read_url(scheme: &str, rest: &str) -> Result<RedisOptions, Error> {
    let tls = matches!(scheme, "rediss" | "valkeys");
    if tls && !cfg!(feature = "tls") {
        return invalid(format!(
            "`{scheme}://` needs TLS: enable the feature `tls` of the crate `dlock`"
        ));
    }
    let mut options = RedisOptions::new(Vec::new());
    options.tls = tls;
    // A `?` before the `@` would be of a password.
    let begins = rest.rfind('@').unwrap_or(0);
    let (seeds, parameters) = match rest[begins..].find('?') {
        Some(at) => (&rest[..begins + at], &rest[begins + at + 1..]),
        None => (rest, ""),
    };
    options.trust = read_parameters(parameters)?;
    let mut database = None;
    for part in seeds.split(',') {
        // Some write the scheme before every seed.
        let part = match part.split_once("://") {
            Some((again, part)) if again == scheme => part,
            Some(_) => {
                return invalid("all seeds of a URL must have the same scheme".to_owned());
            }
            None => part,
        };
        let named = read_seed(part, &mut options)?;
        if database.is_some() && named.is_some() && named != database {
            return invalid(
                "the seeds of the URL have different databases; a lock is in one, so write it once, \
                 behind the last seed"
                    .to_owned(),
            );
        }
        database = named.or(database);
    }
    options.database = database.unwrap_or(0);
    Ok(options)
}

/// Reads `[user:password@]host[:port][/database]`, and returns the database if it is named.
fn read_seed(part: &str, options: &mut RedisOptions) -> Result<Option<i64>, Error> {
    let (login, server) = match part.rsplit_once('@') {
        Some((login, server)) => (Some(login), server),
        None => (None, part),
    };
    if let Some(login) = login {
        read_login(login, options)?;
    }
    if server.contains(['?', '#']) {
        return invalid("write `?` and `#` in a password as `%3F` and `%23`".to_owned());
    }
    let (server, database) = match server.split_once('/') {
        Some((server, database)) => (server, database),
        None => (server, ""),
    };
    let database = match database.parse() {
        _ if database.is_empty() => None,
        Ok(database @ 0..) => Some(database),
        _ => {
            return invalid(
                "what follows the `/` in the URL is no database number; write for example \
                 `redis://host:6379/0`, and a `/` in a password as `%2F`"
                    .to_owned(),
            );
        }
    };
    options.seeds.push(read_server(server)?);
    Ok(database)
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

/// Reads `tls_ca_file`, `tls_cert_file`, `tls_key_file` and `trusted_hosts`.
fn read_parameters(parameters: &str) -> Result<Trust, Error> {
    let mut trust = Trust::default();
    let (mut certificate, mut key) = (None, None);
    for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        let value = decode(value)?;
        let file = match name {
            "tls_ca_file" => &mut trust.authorities,
            "tls_cert_file" => &mut certificate,
            "tls_key_file" => &mut key,
            "trusted_hosts" => {
                let hosts = Trust::hosts(value.split(',')).into_iter();
                trust.hosts.extend(hosts.filter(|host| !host.is_empty()));
                continue;
            }
            // It may be of a password.
            _ => {
                return invalid(
                    "the parameters of a URL are `tls_ca_file`, `tls_cert_file`, `tls_key_file` and `trusted_hosts`, as in \
                     `?trusted_hosts=10.0.*`; the others are settings of the client's builder, and a `?` in a \
                     password is written `%3F`"
                        .to_owned(),
                );
            }
        };
        if file.replace(Pem::File(value.into())).is_some() {
            return invalid(format!("the URL has two parameters `{name}`"));
        }
    }
    trust.identity = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => {
            return invalid(
                "a client's certificate goes with its key: the URL needs both `tls_cert_file` and `tls_key_file`"
                    .to_owned(),
            );
        }
    };
    Ok(trust)
}

fn read_server(server: &str) -> Result<(String, u16), Error> {
    let (host, port) = if let Some(rest) = server.strip_prefix('[') {
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
        match server.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (server, None),
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
                "a `%` in the URL is not followed by two hexadecimal digits; write it as `%25`"
                    .to_owned(),
            );
        };
        bytes.push(byte);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes)
        .or_else(|_| invalid("the URL is not UTF-8 after percent-decoding".to_owned()))
}

fn invalid<T>(message: String) -> Result<T, Error> {
    Err(Error::new(ErrorKind::InvalidConfig, message))
}
