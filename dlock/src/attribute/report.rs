//! How an annotated function tells its caller that it did not have the lock.

use super::Report;
use crate::{Error, ErrorKind, Step};

/// What an annotated function may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot tell the caller that the lock was not had",
    label = "the return type of a function under `#[distributed_lock]`",
    note = "return `Result<T, E>` with `E: From<dlock::Error>`",
    note = "or write `on_busy = ..` to say what to return instead"
)]
pub trait LockResult {
    /// The error as a return value.
    fn from_lock_error(error: Error) -> Self;

    /// Whether the body has failed by itself.
    fn is_failure(&self) -> bool;
}

// Without this the compiler talks about `From` alone and leaves the notes above out.
#[diagnostic::do_not_recommend]
impl<T, E: From<Error>> LockResult for Result<T, E> {
    fn from_lock_error(error: Error) -> Self {
        Err(error.into())
    }

    fn is_failure(&self) -> bool {
        self.is_err()
    }
}

/// What an annotated function with a plain value as `on_busy` may return, if it is a `Result`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot tell the caller of failures other than a busy lock",
    label = "the return type of a function under `#[distributed_lock]`",
    note = "`on_busy` answers for a lock that somebody else has; a lease that was lost or a server \
            that does not answer is reported through `E: From<dlock::Error>`",
    note = "implement that, or write `on_busy = |error| ..`, which answers for every failure"
)]
pub trait BusyResult: LockResult {}

#[diagnostic::do_not_recommend]
impl<T, E: From<Error>> BusyResult for Result<T, E> {}

/// How errors become return values of the annotated function.
#[must_use]
pub fn report<R: LockResult>() -> Report<R> {
    Report::new()
}

/// [`report`] in a function that has something else to say when the lock is busy.
#[must_use]
pub fn report_not_busy<R: BusyResult>() -> Report<R> {
    Report::new()
}

/// Whether somebody else had the lock for as long as the call would wait.
#[must_use]
pub fn is_busy(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Contended | ErrorKind::Timeout(Step::Wait)
    )
}

/// Calls `on_busy = |error| ..`.
pub fn on_busy<R>(value: impl FnOnce(Error) -> R, error: Error) -> R {
    value(error)
}
