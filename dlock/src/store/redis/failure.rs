//! What servers' refusals and lost connections mean.

use std::fmt;

use redis::{RedisError, ServerError};

use super::address::Address;
use super::options::RedisOptions;
use crate::error::{Error, ErrorKind, Step};

/// What a server's refusal asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The slot lives elsewhere, and the server may know where.
    Moved(Option<Address>),
    /// This once, ask elsewhere.
    Ask(Option<Address>),
    /// The server needs the script's text.
    NoScript,
    /// A replica answered: the topology has changed.
    ReadOnly,
    /// Nobody can serve the key at the moment.
    Later,
    /// Trying again would not help.
    Fatal(ErrorKind),
}

/// What a server says that cannot write at the moment, also from inside a script.
const LATER: [&str; 4] = ["NOREPLICAS", "CLUSTERDOWN", "MASTERDOWN", "MISCONF"];

impl Refusal {
    /// Reads a refusal that came from `asked`.
    pub(super) fn of(error: &ServerError, asked: &Address) -> Self {
        let details = error.details().unwrap_or_default();
        let target = || {
            let (_slot, address) = details.split_once(' ')?;
            Address::of_redirect(address, asked)
        };
        match error.code() {
            "MOVED" => Self::Moved(target()),
            "ASK" => Self::Ask(target()),
            "NOSCRIPT" => Self::NoScript,
            "READONLY" => Self::ReadOnly,
            "TRYAGAIN" | "LOADING" | "BUSY" => Self::Later,
            code if LATER.contains(&code) => Self::Later,
            "WRONGTYPE" | "DLOCKFOREIGN" => Self::Fatal(ErrorKind::ForeignKey),
            "NOPERM" | "NOAUTH" | "WRONGPASS" => Self::Fatal(ErrorKind::Unauthorized),
            // Redis 6.2 wraps what a command inside of a script answers; 7 does so for ACLs.
            _ if details.contains("WRONGTYPE") => Self::Fatal(ErrorKind::ForeignKey),
            _ if details.contains("READONLY") => Self::ReadOnly,
            _ if LATER.iter().any(|code| details.contains(code)) => Self::Later,
            _ if details.contains("ACL failure")
                || details.contains("can't run this command")
                || details.contains("can't access") =>
            {
                Self::Fatal(ErrorKind::Unauthorized)
            }
            _ if details.contains("max number of clients") => Self::Later,
            // A slot that is being moved away under a running script, as Redis and as Valkey put it.
            _ if details.contains("non local key") || details.contains("undeclared keys") => {
                Self::Later
            }
            _ => Self::Fatal(ErrorKind::Server),
        }
    }
}

/// Why an attempt had no usable answer; kept to explain the error once the deadline passes.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    /// No answer within the time there was.
    Silence(Address),
    /// The connection failed, or could not be made.
    Io(Address, RedisError),
    /// The server refused, and may not do so later.
    Refused(Address, ServerError),
    /// Not even a server to ask.
    Nobody,
}

impl Trouble {
    /// The error for a caller who ran out of time. `Unavailable` if a server or the network said so,
    /// a timeout if there was only silence.
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Silence(_) => Error::new(ErrorKind::Timeout(Step::Request), self.to_string()),
            _ => self.into_unavailable(),
        }
    }

    /// The error for a caller who has not even found a server.
    pub(super) fn into_unavailable(self) -> Error {
        let kind = ErrorKind::Unavailable;
        let message = self.to_string();
        match self {
            Self::Io(_, cause) => Error::with_cause(kind, message, cause),
            Self::Refused(_, cause) => Error::deferred(message, cause),
            Self::Silence(_) | Self::Nobody => Error::new(kind, message),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silence(at) => write!(
                f,
                "no answer from Redis at {at} in time; it is overloaded, stopped, or cut off from here"
            ),
            Self::Io(at, cause) => write!(
                f,
                "no connection to Redis at {at} ({cause}); check that the server runs and that the \
                 address, port and TLS setting are right"
            ),
            Self::Refused(at, cause) => {
                write!(
                    f,
                    "Redis at {at} cannot serve the lock now ({})",
                    Said(cause)
                )
            }
            Self::Nobody => f.write_str("no Redis server is known to serve the lock's slot now"),
        }
    }
}

/// A server's error in its own words.
pub(super) struct Said<'e>(pub(super) &'e ServerError);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}",
            self.0.code(),
            self.0.details().unwrap_or_default()
        )
    }
}

/// The error for a refusal that trying again would not help.
pub(super) fn fatal(
    kind: ErrorKind,
    error: &ServerError,
    at: &Address,
    key: &str,
    options: &RedisOptions,
) -> Error {
    let said = Said(error);
    let message = match kind {
        ErrorKind::Unauthorized => return unauthorized(&said.to_string(), at, options),
        ErrorKind::ForeignKey if error.code() == "DLOCKFOREIGN" => format!(
            "the lock `{key}` on Redis at {at} cannot be used: {}; bring all clients to versions that share a \
             record, or give the locks a prefix of their own",
            error.details().unwrap_or_default()
        ),
        ErrorKind::ForeignKey => format!(
            "the key `{key}` on Redis at {at} is not a lock of this crate ({said}); delete it, or give \
             the locks a prefix of their own"
        ),
        _ => format!("Redis at {at} refused an operation on lock `{key}`: {said}"),
    };
    Error::with_cause(kind, message, error.clone())
}

/// The error for a wrong password or a missing right.
pub(super) fn unauthorized(said: &str, at: &Address, options: &RedisOptions) -> Error {
    let (user, prefix) = (options.user(), &options.prefix);
    let advice = if said.contains("WRONGPASS") || said.contains("NOAUTH") {
        format!("check the password of user `{user}`")
    } else {
        format!(
            "grant user `{user}`: ACL SETUSER {user} ~{prefix}* resetchannels &{prefix}* +@read +@write +@scripting \
             +@pubsub +@connection +time +cluster|slots +cluster|info"
        )
    };
    Error::new(
        ErrorKind::Unauthorized,
        format!("Redis at {at} denies access ({said}); {advice}"),
    )
}

/// Whether a failed login means that trying again would not help, and the error then.
pub(super) fn login_error(
    error: &RedisError,
    at: &Address,
    options: &RedisOptions,
) -> Option<Error> {
    let text = error.to_string();
    match error.code() {
        Some(code @ ("WRONGPASS" | "NOAUTH" | "NOPERM")) => {
            let said = format!("{code} {}", error.detail().unwrap_or_default());
            Some(unauthorized(&said, at, options))
        }
        _ if text.contains("switch database") => Some(Error::with_cause(
            ErrorKind::InvalidConfig,
            format!(
                "Redis at {at} has no database {} ({text}); leave the `/{}` at the end of the URL out",
                options.database, options.database
            ),
            error.clone(),
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use redis::{ServerError, Value};

    use super::Refusal;
    use crate::error::ErrorKind;
    use crate::store::redis::address::Address;

    fn server_error(line: &str) -> ServerError {
        match redis::parse_redis_value(format!("-{line}\r\n").as_bytes()) {
            Ok(Value::ServerError(error)) => error,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn refusals_of_all_versions_are_understood() {
        let asked = Address::new("h", 1);
        let to = Some(Address::new("10.0.0.2", 7001));
        for (line, refusal) in [
            ("MOVED 3999 10.0.0.2:7001", Refusal::Moved(to.clone())),
            ("MOVED 3999 ?:7001", Refusal::Moved(None)),
            ("ASK 3999 10.0.0.2:7001", Refusal::Ask(to)),
            (
                "NOSCRIPT No matching script. Please use EVAL.",
                Refusal::NoScript,
            ),
            (
                "READONLY You can't write against a read only replica.",
                Refusal::ReadOnly,
            ),
            (
                "TRYAGAIN Multiple keys request during rehashing of slot",
                Refusal::Later,
            ),
            ("CLUSTERDOWN The cluster is down", Refusal::Later),
            (
                "LOADING Redis is loading the dataset in memory",
                Refusal::Later,
            ),
            ("ERR max number of clients reached", Refusal::Later),
            (
                "WRONGTYPE Operation against a key holding the wrong kind of value script: f, on x",
                Refusal::Fatal(ErrorKind::ForeignKey),
            ),
            (
                "ERR Error running script (call to f_2): @user_script:266: -NOREPLICAS Not enough good replicas",
                Refusal::Later,
            ),
            (
                "ERR Error running script (call to f_2): @user_script:8: WRONGTYPE Operation against",
                Refusal::Fatal(ErrorKind::ForeignKey),
            ),
            (
                "NOPERM this user has no permissions to run the 'evalsha' command",
                Refusal::Fatal(ErrorKind::Unauthorized),
            ),
            (
                "ERR ACL failure in script: User u has no permissions to run the 'hset' command",
                Refusal::Fatal(ErrorKind::Unauthorized),
            ),
            (
                "ERR Unable to execute command 'hset' in script because undeclared keys were accessed during \
                 rehashing of the slot",
                Refusal::Later,
            ),
            (
                "DLOCKFOREIGN this lock was written by another version of dlock",
                Refusal::Fatal(ErrorKind::ForeignKey),
            ),
            ("OOM command not allowed", Refusal::Fatal(ErrorKind::Server)),
        ] {
            assert_eq!(Refusal::of(&server_error(line), &asked), refusal, "{line}");
        }
    }
}
