//! The opaque error: a kind, a message that says what to do, perhaps a cause.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::plain::{Quoted, plain};
use super::{ErrorKind, LossReason, Step, Written};

/// What stood behind an error, in its own words: those of a server, perhaps, and so plain and cut.
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

/// Any failure of this crate.
///
/// Ask it with [`kind`](Error::kind) or the `is_…` methods; its text names the lock and says what
/// to do. Cheap to clone. It never contains a password, and control characters (of a name, of a server's words)
/// are shown escaped.
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

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            cause: None,
            deferred: false,
            own: false,
        }))
    }

    pub(crate) fn with_cause(
        kind: ErrorKind,
        message: impl Into<Cow<'static, str>>,
        cause: &impl fmt::Display,
    ) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            cause: Some(Cause::of(cause)),
            deferred: false,
            own: false,
        }))
    }

    /// A failure of one asker, which says nothing about others.
    pub(crate) fn own(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            cause: None,
            deferred: false,
            own: true,
        }))
    }

    /// Whether others who ask for the same may fare better.
    pub(crate) fn is_own(&self) -> bool {
        self.0.own
    }

    /// A server that answers, but not yet to the purpose: who has time may wait for longer.
    pub(crate) fn deferred(
        message: impl Into<Cow<'static, str>>,
        cause: &impl fmt::Display,
    ) -> Self {
        Self(Arc::new(Inner {
            kind: ErrorKind::Unavailable,
            message: message.into(),
            cause: Some(Cause::of(cause)),
            deferred: true,
            own: false,
        }))
    }

    /// A request that was not sent, which says nothing about the server.
    pub(crate) fn unsent(message: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(Inner {
            kind: ErrorKind::Timeout(Step::Request),
            message: message.into(),
            cause: None,
            deferred: true,
            own: false,
        }))
    }

    /// Whether servers answer, but cannot serve the request yet.
    pub(crate) fn is_deferred(&self) -> bool {
        self.0.deferred
    }

    pub(crate) fn lost(name: &str, reason: LossReason) -> Self {
        Self::new(
            ErrorKind::Lost(reason),
            format!(
                "the hold on lock `{name}` was lost: {reason}; somebody else may hold the lock \
                 now, so stop, and let the fencing token reject what was already sent"
            ),
        )
    }

    pub(crate) fn timed_out_waiting(name: &str, waited: Duration) -> Self {
        Self::new(
            ErrorKind::Timeout(Step::Wait),
            format!(
                "lock `{name}` was still held by others after {}; wait longer, or look at who holds it with \
                 `inspect`",
                Written(waited)
            ),
        )
    }

    /// Behind other tasks of this process, of which one holds the lock or asks for it.
    pub(crate) fn timed_out_in_process(name: &str, waited: Duration) -> Self {
        Self::new(
            ErrorKind::Timeout(Step::Wait),
            format!(
                "lock `{name}` was not to be had within {}: other tasks of this process hold it or ask for it before this \
                 one; wait longer, or look at who holds it with `inspect`",
                Written(waited)
            ),
        )
    }

    /// This failure of the servers, for a caller who waited for a lock of which nobody knows whether it is held.
    pub(crate) fn while_waiting(&self, name: &str, waited: Duration) -> Self {
        Self(Arc::new(Inner {
            kind: self.0.kind,
            message: format!(
                "no server served lock `{name}` at the end of {}, so it is not known whether others hold it: {}",
                Written(waited),
                self.0.message
            )
            .into(),
            cause: self.0.cause.clone(),
            deferred: self.0.deferred,
            own: false,
        }))
    }

    pub(crate) fn draining() -> Self {
        Self::new(
            ErrorKind::Closed,
            "this client is being drained: it keeps what it holds and gives no new locks; end what needs them before the \
             drain, or let another process do it",
        )
    }

    pub(crate) fn closed() -> Self {
        Self::new(
            ErrorKind::Closed,
            "this client was shut down; build a new one",
        )
    }

    /// In a destructor of a thread-local, when those of Tokio or of this crate are gone.
    pub(crate) fn thread_is_ending() -> Self {
        Self::new(
            ErrorKind::WouldDeadlock,
            "this thread is ending and cannot wait for a lock any more; take and release locks before, rather than in the \
             destructor of a thread-local",
        )
    }

    pub(crate) fn no_thread(cause: &std::io::Error) -> Self {
        Self::with_cause(
            ErrorKind::Unavailable,
            format!("this process's thread for clients could not be started: {cause}"),
            cause,
        )
    }

    pub(crate) fn unexpected_reply(name: &str) -> Self {
        Self::new(
            ErrorKind::Server,
            format!(
                "the answer for lock `{name}` makes no sense; do other programs write under this \
                 prefix?"
            ),
        )
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether somebody else held the lock and the caller did not want to wait.
    #[must_use]
    pub fn is_contended(&self) -> bool {
        self.kind() == ErrorKind::Contended
    }

    /// Whether somebody else had the lock for as long as the caller wanted to wait, or at once if it did not want to.
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
            ErrorKind::Contended | ErrorKind::Timeout(Step::Wait)
        )
    }

    /// Whether a deadline passed, the caller's or a server's, which may hang; [`kind`](Error::kind) names the step.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind(), ErrorKind::Timeout(_))
    }

    /// Whether the hold ended before it was released.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self.kind(), ErrorKind::Lost(_))
    }

    /// Whether waiting would never have ended.
    #[must_use]
    pub fn is_would_deadlock(&self) -> bool {
        self.kind() == ErrorKind::WouldDeadlock
    }

    /// Whether no server could serve the request; trying again later may help.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.kind() == ErrorKind::Unavailable
    }

    /// Whether the password is wrong, the user lacks a right, or one side does not accept the other's certificate.
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
