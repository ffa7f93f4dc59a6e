//! The opaque error: a kind, a message that says what to do, perhaps a cause.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::text::{Quoted, plain};
use super::{ErrorKind, LossReason, TimeoutStep, Written};

/// The text behind an error, perhaps a server's, with control characters escaped, and cut.
#[derive(Clone, Debug)]
struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cause {}

impl Cause {
    fn of(cause: &impl fmt::Display) -> Self {
        Self(Quoted(cause).to_string())
    }
}

/// Any failure of dlock.
///
/// [`kind`](Error::kind) and the `is_…` methods classify it. The text names the lock and says what to do. It contains no password, and
/// escapes control characters in names and server replies. Clones are cheap.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dlock::Error> {
/// use std::time::Duration;
///
/// let client = dlock::Client::connect("memory://").await?;
/// let lock = client.rw_lock("order:42")?;
/// let _held = lock.write().await?;
/// let error = lock.write_timeout(Duration::from_millis(20)).await.unwrap_err();
/// assert!(error.is_timeout());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    cause: Option<Cause>,
    deferred: bool,
    own: bool,
}

impl Inner {
    fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            message: message.into(),
            cause: None,
            deferred: false,
            own: false,
        }
    }

    fn into_error(self) -> Error {
        Error(Arc::new(self))
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Inner::new(kind, message).into_error()
    }

    pub(crate) fn with_cause(
        kind: ErrorKind,
        message: impl Into<Cow<'static, str>>,
        cause: &impl fmt::Display,
    ) -> Self {
        let inner = Inner {
            cause: Some(Cause::of(cause)),
            ..Inner::new(kind, message)
        };
        inner.into_error()
    }

    /// A failure of one caller, which says nothing about other callers.
    pub(crate) fn own(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        let inner = Inner {
            own: true,
            ..Inner::new(kind, message)
        };
        inner.into_error()
    }

    /// Whether other callers with the same request may succeed.
    pub(crate) fn is_own(&self) -> bool {
        self.0.own
    }

    /// A server answers, but cannot serve the request yet. A caller that may wait retries.
    pub(crate) fn deferred(
        message: impl Into<Cow<'static, str>>,
        cause: &impl fmt::Display,
    ) -> Self {
        let inner = Inner {
            cause: Some(Cause::of(cause)),
            deferred: true,
            ..Inner::new(ErrorKind::Unavailable, message)
        };
        inner.into_error()
    }

    /// A request that no server had time to answer, which says nothing about the server.
    pub(crate) fn unsent(message: impl Into<Cow<'static, str>>) -> Self {
        let inner = Inner {
            deferred: true,
            ..Inner::new(ErrorKind::Timeout(TimeoutStep::Request), message)
        };
        inner.into_error()
    }

    /// Whether servers answer, but cannot serve the request yet.
    pub(crate) fn is_deferred(&self) -> bool {
        self.0.deferred
    }

    pub(crate) fn lost(name: &str, reason: LossReason) -> Self {
        Self::new(
            ErrorKind::Lost(reason),
            format!(
                "the hold on lock `{name}` was lost: {reason}; another client may hold the lock now, so stop, and let the \
                 fencing token reject writes that were already sent"
            ),
        )
    }

    pub(crate) fn timed_out_waiting(name: &str, waited: Duration) -> Self {
        Self::new(
            ErrorKind::Timeout(TimeoutStep::Wait),
            format!(
                "lock `{name}` was still held by others after {}; wait longer, or find the holder with `inspect`",
                Written(waited)
            ),
        )
    }

    /// The error of a task behind other tasks of its process, of which one holds or requests the lock.
    pub(crate) fn timed_out_in_process(name: &str, waited: Duration) -> Self {
        Self::new(
            ErrorKind::Timeout(TimeoutStep::Wait),
            format!(
                "lock `{name}` was not free within {}: tasks of this process hold it, or wait ahead of this one; wait longer, or \
                 find the holder with `inspect`. A task that holds it already waits for itself; locks of one \
                 `owner` do not",
                Written(waited)
            ),
        )
    }

    /// This failure of the servers, for a caller that waited for a lock whose state is unknown.
    pub(crate) fn while_waiting(&self, name: &str, waited: Duration) -> Self {
        let message = format!(
            "no server served lock `{name}` at the end of {}, so the client does not know whether it is held: {}",
            Written(waited),
            self.0.message
        );
        let inner = Inner {
            cause: self.0.cause.clone(),
            deferred: self.0.deferred,
            ..Inner::new(self.0.kind, message)
        };
        inner.into_error()
    }

    pub(crate) fn draining() -> Self {
        Self::new(
            ErrorKind::Closed,
            "this client is being drained: it keeps its holds and grants no new locks; finish work that needs new locks before \
             the drain, or leave it to another process",
        )
    }

    pub(crate) fn closed() -> Self {
        Self::new(
            ErrorKind::Closed,
            "this client was shut down; build a new one",
        )
    }

    /// In the destructor of a thread-local, after the thread-locals of Tokio or dlock are gone.
    pub(crate) fn thread_is_ending() -> Self {
        Self::new(
            ErrorKind::WouldDeadlock,
            "this thread is ending and can no longer wait for a lock; take and release locks earlier, not in the destructor of a \
             thread-local",
        )
    }

    pub(crate) fn no_thread(cause: &std::io::Error) -> Self {
        Self::with_cause(
            ErrorKind::Unavailable,
            format!("this process's thread for clients could not be started: {cause}"),
            cause,
        )
    }

    pub(crate) fn no_linger_in_quorum() -> Self {
        Self::new(
            ErrorKind::InvalidConfig,
            "servers of a quorum send no messages, so that no client could ask for a lock that lingers; leave `linger` out",
        )
    }

    pub(crate) fn unexpected_reply(name: &str) -> Self {
        Self::new(
            ErrorKind::Server,
            format!(
                "the server's answer for lock `{name}` is invalid; check that no other program writes under this prefix"
            ),
        )
    }

    /// The kind of failure, to match on.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether another caller held the lock until the end of this caller's wait, or at once if this caller did not wait.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// use dlock::{Client, Error, distributed_lock};
    ///
    /// #[distributed_lock(key = "stock", wait = "20ms")]
    /// async fn count() -> Result<u32, Error> {
    ///     Ok(7)
    /// }
    ///
    /// let client = Client::connect("memory://").await?;
    /// dlock::install(client.clone());
    /// let held = client.rw_lock("stock")?.write().await?;
    /// assert!(count().await.unwrap_err().is_busy());
    /// held.release().await?;
    /// client.shutdown().await?;
    /// assert!(!count().await.unwrap_err().is_busy());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::Busy | ErrorKind::Timeout(TimeoutStep::Wait)
        )
    }

    /// Whether a deadline passed: the caller's, or the one for a server's answer. [`kind`](Error::kind) names the step.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind(), ErrorKind::Timeout(_))
    }

    /// Whether the hold ended before it was released.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self.kind(), ErrorKind::Lost(_))
    }

    /// Whether the caller would have waited for itself.
    #[must_use]
    pub fn is_would_deadlock(&self) -> bool {
        self.kind() == ErrorKind::WouldDeadlock
    }

    /// Whether no server could serve the request; trying again later may help.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.kind() == ErrorKind::Unavailable
    }

    /// Whether the password is wrong, the user lacks a right, or one side rejects the other's certificate.
    #[must_use]
    pub fn is_unauthorized(&self) -> bool {
        self.kind() == ErrorKind::Unauthorized
    }

    /// Whether a lock name or a setting was refused.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::InvalidKey | ErrorKind::InvalidConfig
        )
    }

    /// Whether the client was being drained, or had been shut down.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.kind() == ErrorKind::Closed
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(&self.0.message))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Error");
        out.field("kind", &self.0.kind)
            .field("message", &self.0.message);
        if let Some(cause) = &self.0.cause {
            out.field("cause", &format_args!("{cause}"));
        }
        out.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let cause = self.0.cause.as_ref()?;
        Some(cause)
    }
}
