//! How an annotated function tells its caller that it did not have the lock.

use crate::Error;

/// The return type of an annotated function: a `Result` whose error implements `From<dlock::Error>`, or a type of your own that can
/// report a failure.
///
/// A function with any other return type gives the value to return with `on_busy`.
///
/// ```
/// use dlock::{Client, Error, FromLockError, distributed_lock};
///
/// enum Outcome {
///     Shipped,
///     Later,
/// }
///
/// impl FromLockError for Outcome {
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
    message = "`{Self}` cannot report that the lock was busy or lost",
    label = "the return type of a function under `#[distributed_lock]`",
    note = "return `Result<T, E>`, where your error type `E` implements `From<dlock::Error>`",
    note = "a foreign error type, such as `std::io::Error`, cannot implement it: write `on_busy = |error| Err(..)`, which \
            converts every failure",
    note = "or give the value to return with `on_busy = ..`; in a function that returns a `Result`, a plain value is used only \
            when the lock is held by another caller"
)]
pub trait FromLockError {
    /// The error as a return value.
    fn from_lock_error(error: Error) -> Self;

    /// Whether this value is the body's own failure. If the lock was lost before the body returned, the caller gets such a failure, but
    /// the loss instead of a success. Default: `false`.
    fn is_failure(&self) -> bool {
        false
    }
}

// Without this the compiler talks about `From` alone and leaves the notes above out.
#[diagnostic::do_not_recommend]
impl<T, E: From<Error>> FromLockError for Result<T, E> {
    fn from_lock_error(error: Error) -> Self {
        Err(error.into())
    }

    fn is_failure(&self) -> bool {
        self.is_err()
    }
}

/// Whether another client had the lock for as long as the call would wait.
#[must_use]
pub fn is_busy(error: &Error) -> bool {
    error.is_busy()
}

/// Calls `on_busy = |error| ..`.
pub fn on_busy<R>(value: impl FnOnce(Error) -> R, error: Error) -> R {
    value(error)
}
