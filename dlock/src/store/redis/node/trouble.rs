//! Why there is no usable answer.

use std::fmt;

use redis::{RedisError, ServerError};

use crate::error::{Error, ErrorKind, Quoted, Step};
use crate::store::redis::address::Address;
use crate::store::redis::wire::Said;

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
    /// A node of a cluster that has not heard of anybody who serves a slot.
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

    /// The error for a caller who ran out of time. `Unavailable` if a server or the network said so,
    /// a timeout if there was only silence.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Silence(_) => Error::new(ErrorKind::Timeout(Step::Request), self.to_string()),
            Self::Crowd(_) => Error::unsent(self.to_string()),
            _ => self.into_unavailable(),
        }
    }

    /// The error for a caller who has not even found a server.
    pub(crate) fn into_unavailable(self) -> Error {
        let kind = ErrorKind::Unavailable;
        let message = self.to_string();
        match self {
            Self::Io(_, cause) => Error::with_cause(kind, message, &cause),
            Self::Refused(_, cause) => Error::deferred(message, &cause),
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
