//! One lock, several, or perhaps none.

use std::future::pending;

use futures_util::future::select_all;

use super::{CallGuard, CallMutexGuard};
use crate::Error;

/// What `guard = name` binds: a [`CallGuard`], a vector of them for `keys`, an option with `when`; for plain mutexes the same of
/// [`CallMutexGuard`].
pub trait Holds: Clone {
    /// The holds of plain mutexes, which have no tokens.
    type Plain;

    /// Each of the locks.
    fn each(&self) -> &[CallGuard];

    /// The locks without their tokens, which they have not.
    fn plain(self) -> Self::Plain;
}

impl Holds for CallGuard {
    type Plain = CallMutexGuard;

    fn each(&self) -> &[CallGuard] {
        std::slice::from_ref(self)
    }

    fn plain(self) -> CallMutexGuard {
        CallMutexGuard::new(self)
    }
}

impl Holds for Vec<CallGuard> {
    type Plain = Vec<CallMutexGuard>;

    fn each(&self) -> &[CallGuard] {
        self
    }

    fn plain(self) -> Vec<CallMutexGuard> {
        self.into_iter().map(CallMutexGuard::new).collect()
    }
}

impl<H: Holds> Holds for Option<H> {
    type Plain = Option<H::Plain>;

    fn each(&self) -> &[CallGuard] {
        self.as_ref().map_or(&[], Holds::each)
    }

    fn plain(self) -> Option<H::Plain> {
        self.map(Holds::plain)
    }
}

/// Completes when the first of them is lost.
pub(super) async fn first_loss(holds: impl Holds) -> Error {
    match holds.each() {
        [] => pending().await,
        [held] => held.loss().await,
        several => {
            let losses = several.iter().map(|held| Box::pin(held.loss()));
            let (error, _, _) = select_all(losses).await;
            error
        }
    }
}
