//! Kinds of errors, to match on.

use std::fmt;

/// The step in which a deadline passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutStep {
    /// Connecting to a server, and the login.
    Connect,
    /// Waiting for the lock while another caller held it.
    Wait,
    /// Waiting for the server's answer to one request.
    Request,
    /// Releasing a hold.
    Release,
}

impl fmt::Display for TimeoutStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Wait => "waiting for the lock",
            Self::Request => "waiting for an answer",
            Self::Release => "releasing",
        })
    }
}

/// Why a hold ended before it was released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossReason {
    /// No renewal was acknowledged before the lease ran out.
    Expired,
    /// The server no longer knew the hold at its renewal or release.
    Removed,
    /// The hold reached its `max_hold`.
    MaxHold,
    /// The client was shut down while the guard was alive.
    Shutdown,
}

impl LossReason {
    /// The reason as a metric label value.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Removed => "removed",
            Self::MaxHold => "max_hold",
            Self::Shutdown => "shutdown",
        }
    }
}

impl fmt::Display for LossReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "its lease ran out before a renewal was acknowledged",
            Self::Removed => "the server no longer knows it",
            Self::MaxHold => "it reached its max_hold",
            Self::Shutdown => "the client was shut down",
        })
    }
}

/// The kind of an [`Error`](crate::Error).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A lock name that cannot be turned into a safe key.
    InvalidKey,
    /// A setting that is out of range, or that contradicts another.
    InvalidConfig,
    /// Another caller holds the lock, and this caller did not wait.
    Busy,
    /// A deadline passed in the named step.
    Timeout(TimeoutStep),
    /// The hold ended before it was released.
    Lost(LossReason),
    /// The caller would wait for itself: a reader requested the write lock beside other readers, for example.
    WouldDeadlock,
    /// No server could be reached, or the cluster cannot serve the key now.
    Unavailable,
    /// A wrong password, a missing right, or a certificate that one side rejects.
    Unauthorized,
    /// The key of this name is not a lock of dlock.
    ForeignKey,
    /// The server refused the request, or sent an unexpected reply.
    Server,
    /// The client is being drained, or was shut down.
    Closed,
    /// No client was installed for the attribute to use.
    NotInstalled,
}

impl ErrorKind {
    /// All values of the metric label.
    pub(crate) const LABELS: [&str; 15] = [
        "invalid_key",
        "invalid_config",
        "busy",
        "connect_timeout",
        "wait_timeout",
        "request_timeout",
        "release_timeout",
        "lost",
        "would_deadlock",
        "unavailable",
        "unauthorized",
        "foreign_key",
        "server",
        "closed",
        "not_installed",
    ];

    /// The kind as a metric label value. Timeouts name the step: waits depend on the
    /// callers, all others on the servers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::InvalidKey => "invalid_key",
            Self::InvalidConfig => "invalid_config",
            Self::Busy => "busy",
            Self::Timeout(TimeoutStep::Connect) => "connect_timeout",
            Self::Timeout(TimeoutStep::Wait) => "wait_timeout",
            Self::Timeout(TimeoutStep::Request) => "request_timeout",
            Self::Timeout(TimeoutStep::Release) => "release_timeout",
            Self::Lost(_) => "lost",
            Self::WouldDeadlock => "would_deadlock",
            Self::Unavailable => "unavailable",
            Self::Unauthorized => "unauthorized",
            Self::ForeignKey => "foreign_key",
            Self::Server => "server",
            Self::Closed => "closed",
            Self::NotInstalled => "not_installed",
        }
    }
}
