//! A task waiting at the gate.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot::Receiver;

use super::{Gates, Turn};
use crate::error::Error;
use crate::key::LockKey;

/// A place in the local line, given up when dropped.
#[must_use = "dropping it gives the place up"]
pub(in crate::lock) struct Place {
    gates: Arc<Gates>,
    key: LockKey,
    number: u64,
    turn: Receiver<Turn>,
}

impl Place {
    pub(super) fn new(
        gates: &Arc<Gates>,
        key: &LockKey,
        number: u64,
        turn: Receiver<Turn>,
    ) -> Self {
        Self {
            gates: Arc::clone(gates),
            key: key.clone(),
            number,
            turn,
        }
    }

    /// Waits for the turn.
    pub(in crate::lock) async fn turn(&mut self) -> Turn {
        // Only the gate holds the other end, and it answers before it lets go.
        (&mut self.turn)
            .await
            .unwrap_or_else(|_| Turn::Failed(self.gates.turned_away()))
    }

    /// The error of a task that does not want to wait for longer than that.
    pub(in crate::lock) fn gave_up(&self, waited: Duration) -> Error {
        let name = self.key.name();
        match self.gates.trouble(&self.key) {
            Some(trouble) => trouble.while_waiting(name, waited),
            None => Error::timed_out_in_process(name, waited),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // First out of the line; a turn that came all the same is then passed on with the receiver.
        self.gates.cancel(&self.key, self.number);
    }
}
