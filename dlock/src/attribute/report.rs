//! How an annotated function tells its caller that it did not have the lock.

use crate::Error;

/// What an annotated function may return: a `Result` whose error has a `From<dlock::Error>`, or a type of your own
/// that can tell of a failure in its own way.
///
/// A function with any other return type says with `on_busy` what to return instead.
///
/// ```
/// use dlock::{Client, Error, LockResult, distributed_lock};
///
/// enum Outcome {
///     Shipped,
///     Later,
/// }
///
/// impl LockResult for Outcome {
///     fn from_lock_error(_: Error) -> Self {
///         Self::Later
///     }
/// }
///
/// #[distributed_lock(key = "order:{order_id}", wait = "1s")]
/// async fn ship(order_id: u64) -> Outcome {
///     Outcome::Shipped
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// # dlock::install(Client::connect("memory://").await?);
/// # assert!(matches!(ship(42).await, Outcome::Shipped));
/// # dlock::installed()?.shutdown().await?;
/// # assert!(matches!(ship(42).await, Outcome::Later));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot tell the caller that the lock was not had, or was lost",
    label = "the return type of a function under `#[distributed_lock]`",
    note = "return `Result<T, E>` with an error of your own that has an `impl From<dlock::Error> for E`",
    note = "an error of another crate, such as `std::io::Error`, cannot get one: write \
            `on_busy = |error| Err(..)`, which makes it of whatever goes wrong",
    note = "or say with `on_busy = ..` what to return instead of a `Result`; beside a `Result` a plain value answers \
            only for a lock that somebody else has"
)]
pub trait LockResult {
    /// The error as a return value.
    fn from_lock_error(error: Error) -> Self;

    /// Whether this is a failure of the body's own. If the lock was lost before the body had come to its end, the caller
    /// gets such a failure, which says more, but no success: the loss instead. Default: it is none.
    fn is_failure(&self) -> bool {
        false
    }
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

/// Whether somebody else had the lock for as long as the call would wait.
#[must_use]
pub fn is_busy(error: &Error) -> bool {
    error.is_busy()
}

/// Calls `on_busy = |error| ..`.
pub fn on_busy<R>(value: impl FnOnce(Error) -> R, error: Error) -> R {
    value(error)
}
