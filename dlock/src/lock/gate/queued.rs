//! A task waiting at the gate.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::Turn;
use crate::client::Inner;
use crate::error::Error;
use crate::key::LockKey;

/// A place in the local line, given up when dropped.
#[must_use = "dropping it gives the place up"]
pub(in crate::lock) struct Queued {
    inner: Arc<Inner>,
    key: LockKey,
    ticket: u64,
    turn: oneshot::Receiver<Turn>,
}

impl Queued {
    pub(super) fn new(
        inner: &Arc<Inner>,
        key: &LockKey,
        ticket: u64,
        turn: oneshot::Receiver<Turn>,
    ) -> Self {
        Self {
            inner: Arc::clone(inner),
            key: key.clone(),
            ticket,
            turn,
        }
    }

    /// Waits for the turn.
    pub(in crate::lock) async fn turn(&mut self) -> Turn {
        // Only the gate holds the other end, and it answers before it lets go.
        (&mut self.turn)
            .await
            .unwrap_or_else(|_| Turn::Failed(Error::closed()))
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        // First out of the line; a turn that came all the same is then passed on with the receiver.
        self.inner.gates.cancel(&self.key, self.ticket);
    }
}
