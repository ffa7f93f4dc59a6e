//! What servers' refusals mean.

use std::fmt;

use redis::{ServerError, Value};

use crate::error::{ErrorKind, Quoted};
use crate::store::redis::address::Address;

/// What a server's refusal asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The slot lives elsewhere, and the server may know where.
    Moved(Option<Address>),
    /// This once, ask elsewhere.
    Ask(Option<Address>),
    /// The server needs the script's text.
    NoScript,
    /// A replica answered: the topology has changed.
    ReadOnly,
    /// The keys of the request are at two nodes at the moment.
    Parted,
    /// Nobody can serve the key at the moment.
    Later,
    /// Trying again would not help.
    Fatal(ErrorKind),
}

/// What a server says that cannot write at the moment, also from inside a script.
const LATER: [&str; 4] = ["NOREPLICAS", "CLUSTERDOWN", "MASTERDOWN", "MISCONF"];

impl Refusal {
    /// Reads a refusal that came from `asked`.
    pub(crate) fn of(error: &ServerError, asked: &Address) -> Self {
        let details = details(error);
        let target = || {
            let (_slot, address) = details.split_once(' ')?;
            Address::of_redirect(address, asked)
        };
        match error.code() {
            "MOVED" => Self::Moved(target()),
            "ASK" => Self::Ask(target()),
            "NOSCRIPT" => Self::NoScript,
            "READONLY" => Self::ReadOnly,
            "TRYAGAIN" => Self::Parted,
            "LOADING" | "BUSY" => Self::Later,
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

/// What a server's error says behind its code.
pub(super) fn details(error: &ServerError) -> &str {
    error.details().unwrap_or_default()
}

/// A server's error in its own words, plain and cut.
pub(crate) struct Said<'e>(pub(crate) &'e ServerError);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        Quoted(format_args!("{} {}", error.code(), details(error))).fmt(f)
    }
}

/// The answer, unless it is a refusal.
pub(crate) fn unless_refused(answer: Value) -> Result<Value, ServerError> {
    match answer {
        Value::ServerError(error) => Err(error),
        answer => Ok(answer),
    }
}

/// The refusal, if an answer is one.
pub(crate) fn refusal(answer: &Value) -> Option<&ServerError> {
    match answer {
        Value::ServerError(error) => Some(error),
        _ => None,
    }
}

/// Whether the server does not know a command.
pub(super) fn is_unknown(error: &ServerError) -> bool {
    details(error).starts_with("unknown command")
}

/// Whether the same server may do this later: it cannot at the moment, or the slot is only leaving.
pub(crate) fn is_for_later(error: &ServerError) -> bool {
    matches!(error.code(), "ASK" | "TRYAGAIN") || LATER.contains(&error.code())
}

/// Whether the server refuses everybody at the moment, whatever the key.
pub(crate) fn is_of_all(error: &ServerError) -> bool {
    match error.code() {
        "LOADING" | "BUSY" | "READONLY" | "MASTERDOWN" | "NOREPLICAS" | "MISCONF" => true,
        "CLUSTERDOWN" => !details(error).contains("slot not served"),
        _ => false,
    }
}

/// Whether the server does not know a command, or the user may not use it.
pub(crate) fn is_denied(error: &ServerError) -> bool {
    is_unknown(error) || matches!(error.code(), "NOPERM")
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
                Refusal::Parted,
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
