//! Why there is no usable answer: trouble on the way, and refusals that trying again would not help.

use std::fmt;

use redis::{RedisError, ServerError};

use super::server::Node;
use crate::error::{Error, ErrorKind, Quoted, TimeoutStep};
use crate::store::redis::address::Address;
use crate::store::redis::env::Env;
use crate::store::redis::wire::{Rule, Said, Script, missing_right};

/// Why a request had no usable answer; kept to explain the error once the deadline passes.
#[derive(Debug, Clone)]
pub(crate) enum Trouble {
    /// No answer within the time there was.
    Silence(Address),
    /// The request was not sent: too many others of this client were to be sent before it.
    Crowd(Address),
    /// There is no connection yet, nor a reason for that.
    Connecting(Address),
    /// The connection failed, or could not be made.
    Io(Address, RedisError),
    /// The server refused, and may not do so later.
    Refused(Address, ServerError),
    /// The server did not know the script, and the text that was sent then is not answered yet.
    Unknown(Address, ServerError),
    /// A node of a cluster that knows no server of a slot.
    NoSlots(Address),
    /// A server named another, to which this client is not to talk.
    Stranger { by: Address, named: Address },
    /// Not even a server to ask.
    Nobody,
}

impl Trouble {
    /// Silence tells nothing, nor does it that there is no connection yet, or too much else to send.
    pub(crate) fn tells(&self) -> bool {
        !matches!(
            self,
            Self::Silence(_) | Self::Crowd(_) | Self::Connecting(_)
        )
    }

    /// Keeps the trouble that tells most.
    pub(crate) fn note(self, last: &mut Option<Self>) {
        if last.is_none() || self.tells() {
            *last = Some(self);
        }
    }

    /// The error for a caller whose time is over. `Unavailable` if a server or the network said so,
    /// a timeout if there was only silence.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Silence(_) => {
                Error::new(ErrorKind::Timeout(TimeoutStep::Request), self.to_string())
            }
            Self::Crowd(_) | Self::Unknown(..) => Error::unsent(self.to_string()),
            _ => self.into_unavailable(),
        }
    }

    /// The error for a caller that has not even found a server.
    pub(crate) fn into_unavailable(self) -> Error {
        let kind = ErrorKind::Unavailable;
        let message = self.to_string();
        match self {
            Self::Io(_, cause) => Error::with_cause(kind, message, &cause),
            Self::Refused(_, cause) | Self::Unknown(_, cause) => Error::deferred(message, &cause),
            Self::Silence(_)
            | Self::Crowd(_)
            | Self::Connecting(_)
            | Self::NoSlots(_)
            | Self::Stranger { .. }
            | Self::Nobody => Error::new(kind, message),
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
            Self::Crowd(at) => write!(
                f,
                "this client has more acquires to send to Redis at {at} than are answered in time (metric `dlock_queued`); it \
                 waits for too many locks at once, or the server is slow"
            ),
            Self::Connecting(at) => write!(
                f,
                "no connection to Redis at {at} yet; check that the server runs and that the address, port and TLS \
                 setting are right"
            ),
            Self::Io(at, cause) => write!(
                f,
                "no connection to Redis at {at} ({}); check that the server runs and that the \
                 address, port and TLS setting are right",
                Quoted(cause)
            ),
            Self::Refused(at, cause) => {
                write!(
                    f,
                    "Redis at {at} cannot serve the lock now ({})",
                    Said(cause)
                )?;
                if cause.code() == "CLUSTERDOWN" {
                    f.write_str(
                        "; `CLUSTER INFO` and `CLUSTER SHARDS` at that node say which slots no master serves",
                    )?;
                }
                Ok(())
            }
            Self::Unknown(at, cause) => write!(
                f,
                "Redis at {at} did not know the script ({}), and its text was not answered in time",
                Said(cause)
            ),
            Self::NoSlots(at) => write!(
                f,
                "Redis at {at} is a node of a cluster, but knows of no slots; check that the cluster has been created, \
                 and that this node has joined it"
            ),
            Self::Stranger { by, named } => write!(
                f,
                "Redis at {by} names another server, {named}, which is not among the `trusted_hosts`; add it, if it \
                 belongs to the cluster"
            ),
            Self::Nobody => f.write_str("no Redis server is known to serve the lock's slot now"),
        }
    }
}

/// The error for a refusal that trying again would not help, of what was asked about `key`, by a script perhaps.
pub(crate) fn fatal(
    kind: ErrorKind,
    error: &ServerError,
    node: &Node,
    key: &str,
    script: Option<Script>,
) -> Error {
    let (said, at) = (Said(error), node.address());
    let mutex = script.is_some_and(Script::is_of_mutex);
    let message = match kind {
        ErrorKind::Unauthorized => {
            let missing = missing_right(error, script);
            let (missing, mutex) = (missing.as_deref(), mutex.then_some(key));
            return unauthorized(&said.to_string(), (missing, mutex), at, node.env());
        }
        ErrorKind::ForeignKey if error.code() == "DLOCKFOREIGN" => format!(
            "the lock `{key}` on Redis at {at} cannot be used: {}; bring all clients to versions that share a \
             record, or give the locks a prefix of their own",
            Quoted(error.details().unwrap_or_default())
        ),
        ErrorKind::ForeignKey if mutex => format!(
            "the key `{key}` on Redis at {at} is not a string, so it cannot be a mutex ({said}); choose another name for the mutex"
        ),
        ErrorKind::ForeignKey => format!(
            "the key `{key}` on Redis at {at} is not a lock of this crate ({said}); delete it, or give \
             the locks a prefix of their own"
        ),
        _ => format!("Redis at {at} refused an operation on lock `{key}`: {said}"),
    };
    Error::with_cause(kind, message, error)
}

/// The error for a wrong password or a missing right, perhaps a known one, perhaps on a mutex.
fn unauthorized(
    said: &str,
    (missing, mutex): (Option<&str>, Option<&str>),
    at: &Address,
    env: &Env,
) -> Error {
    let user = env.options.user();
    let advice = if ["WRONGPASS", "NOAUTH"].iter().any(|no| said.contains(no)) {
        format!("check the password of user `{user}`")
    } else {
        let lacks = missing.map(|command| format!("it may not run `{command}`; "));
        format!(
            "{}{}",
            lacks.unwrap_or_default(),
            what_to_grant(user, missing, mutex, env)
        )
    };
    Error::new(
        ErrorKind::Unauthorized,
        format!("Redis at {at} denies user `{user}` access ({said}); {advice}"),
    )
}

/// What to grant.
fn what_to_grant(user: &str, missing: Option<&str>, mutex: Option<&str>, env: &Env) -> String {
    let sharded = env.known.sharded.get();
    let rule = Rule {
        prefix: &env.options.prefix,
        cluster: *env.known.cluster.get().unwrap_or(&true),
        sharded: *sharded.unwrap_or(&true),
        mutex,
        besides: missing.filter(|command| !command.contains(' ')),
    };
    let classic = match sharded {
        Some(_) => "",
        None => {
            ", and before Redis 7 `publish`, `subscribe` and `unsubscribe` instead of those with an `s` in front"
        }
    };
    format!(
        "grant all that locks need and nothing else (to add it to what the user may do besides, leave `resetkeys`, \
         `resetchannels` and `nocommands` out{classic}): ACL SETUSER {user} {rule}"
    )
}

/// Whether a failed login means that trying again would not help, and the error then.
pub(super) fn login_error(error: &RedisError, at: &Address, env: &Env) -> Option<Error> {
    let database = env.options.database;
    #[cfg(feature = "tls")]
    if let Some(advice) = super::stream::tls::refused_certificate(error) {
        return Some(Error::with_cause(
            ErrorKind::Unauthorized,
            format!(
                "no encrypted connection to Redis at {at} ({}): {advice}",
                Quoted(error)
            ),
            error,
        ));
    }
    match error.code() {
        Some(code @ ("WRONGPASS" | "NOAUTH" | "NOPERM")) => {
            let said = Quoted(format_args!(
                "{code} {}",
                error.detail().unwrap_or_default()
            ));
            Some(unauthorized(&said.to_string(), (None, None), at, env))
        }
        _ if error.to_string().contains("switch database") => {
            let said = error.detail().unwrap_or("without a reason");
            Some(Error::with_cause(
                ErrorKind::InvalidConfig,
                format!(
                    "Redis at {at} refuses database {database} to user `{}` ({}): leave the `/{database}` at the end of the \
                     URL out{}",
                    env.options.user(),
                    Quoted(said),
                    what_else_than_without(said)
                ),
                error,
            ))
        }
        _ => None,
    }
}

/// What to do about a database that a server refuses, by what it says, other than to do without.
fn what_else_than_without(said: &str) -> &'static str {
    if said.contains("cluster mode") {
        "; this cluster has database 0 only (Valkey 9 and later can have more: `cluster-databases`)"
    } else if said.contains("out of range") {
        ", or raise `databases` on the server (`cluster-databases` in a cluster)"
    } else if said.contains("permission") {
        ", or grant `+select`"
    } else {
        ""
    }
}
