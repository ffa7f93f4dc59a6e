//! Why there is no usable answer.

use std::fmt;

use redis::{RedisError, ServerError};

use crate::error::{Error, ErrorKind, Step};
use crate::store::redis::address::Address;
use crate::store::redis::wire::Said;

/// Why a request had no usable answer; kept to explain the error once the deadline passes.
#[derive(Debug, Clone)]
pub(crate) enum Trouble {
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
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Silence(_) => Error::new(ErrorKind::Timeout(Step::Request), self.to_string()),
            _ => self.into_unavailable(),
        }
    }

    /// The error for a caller who has not even found a server.
    pub(crate) fn into_unavailable(self) -> Error {
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
