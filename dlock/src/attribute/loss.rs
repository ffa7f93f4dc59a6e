//! Calls that lost their lock.

use crate::Error;

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
