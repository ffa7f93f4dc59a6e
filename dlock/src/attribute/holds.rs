//! One lock, several, or perhaps none.

use std::future::pending;

use futures_util::future::select_all;

use super::{Held, MutexHeld};
use crate::Error;

/// What `guard = name` binds: a [`Held`], a vector of them for `keys`, an option with `when`; for plain mutexes the same of
/// [`MutexHeld`].
pub trait Holds: Clone {
    /// The holds of plain mutexes, which have no tokens.
    type Plain;

    /// Each of the locks.
    fn each(&self) -> &[Held];

    /// The locks without their tokens, which they have not.
    fn plain(self) -> Self::Plain;
}

impl Holds for Held {
    type Plain = MutexHeld;

    fn each(&self) -> &[Held] {
        std::slice::from_ref(self)
    }

    fn plain(self) -> MutexHeld {
        MutexHeld::new(self)
    }
}

impl Holds for Vec<Held> {
    type Plain = Vec<MutexHeld>;

    fn each(&self) -> &[Held] {
        self
    }

    fn plain(self) -> Vec<MutexHeld> {
        self.into_iter().map(MutexHeld::new).collect()
    }
}

impl<H: Holds> Holds for Option<H> {
    type Plain = Option<H::Plain>;

    fn each(&self) -> &[Held] {
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
