//! How an annotated function tells its caller that it did not have the lock, or lost it before the body ended.

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

/// A lock was lost before the body ended: why, and what the body returned if it went on to its end all the same.
#[derive(Debug)]
pub struct Loss<T> {
    error: Error,
    output: Option<T>,
}

impl<T> Loss<T> {
    /// The body was stopped.
    pub(super) fn stopped(error: Error) -> Self {
        Self {
            error,
            output: None,
        }
    }

    /// The body has ended before it could be stopped.
    pub(super) fn noticed_late(error: Error, output: T) -> Self {
        Self {
            error,
            output: Some(output),
        }
    }

    /// What a closure given as `on_busy` is told.
    pub fn into_error(self) -> Error {
        self.error
    }
}

/// How an annotated function tells its caller that it did not have the lock, or not to the end.
#[derive(Debug)]
pub struct Report<R> {
    error: fn(Error) -> R,
    is_failure: fn(&R) -> bool,
}

impl<R> Report<R> {
    /// With what the return type says of itself. It is asked in the function, where the compiler can point to it.
    #[must_use]
    pub fn new(error: fn(Error) -> R, is_failure: fn(&R) -> bool) -> Self {
        Self { error, is_failure }
    }

    /// The lock was not had.
    #[must_use]
    pub fn refused(&self, error: Error) -> R {
        (self.error)(error)
    }

    /// The lock was lost. If the body failed, its own error says more. If it succeeded, another client may have worked
    /// at the same time.
    pub fn lost(&self, loss: Loss<R>) -> R {
        match loss.output {
            Some(own) if (self.is_failure)(&own) => own,
            _ => (self.error)(loss.error),
        }
    }
}
