//! One lock, several, or perhaps none.

use std::future::pending;

use futures_util::future::select_all;

use super::Held;
use crate::Error;

/// What `guard = name` binds: a [`Held`], a vector of them for `keys`, an option with `when`.
pub trait Holds: Clone {
    /// Each of the locks.
    fn each(&self) -> &[Held];
}

impl Holds for Held {
    fn each(&self) -> &[Held] {
        std::slice::from_ref(self)
    }
}

impl Holds for Vec<Held> {
    fn each(&self) -> &[Held] {
        self
    }
}

impl<H: Holds> Holds for Option<H> {
    fn each(&self) -> &[Held] {
        self.as_ref().map_or(&[], Holds::each)
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
