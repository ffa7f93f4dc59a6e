//! A task waiting at the gate, and the task that asks the server on behalf of its process.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot::Receiver;

use super::line::Line;
use super::{Gates, Share, Turn};
use crate::clock::BootInstant;
use crate::error::Error;
use crate::hold::Hold;
use crate::key::LockKey;
use crate::store::Listening;

/// A hold that the server has granted.
#[derive(Debug)]
pub(in crate::lock) struct Acquired {
    pub(in crate::lock) hold: Arc<Hold>,
    /// What the acquire listened with, if that goes on: the hold may linger, and no other client was in line before.
    pub(super) listening: Option<Box<Listening>>,
    /// Whether others were in line on the server before.
    pub(super) queued: bool,
}

impl Acquired {
    pub(in crate::lock) fn new(
        hold: Arc<Hold>,
        listening: &mut Option<Listening>,
        queued: bool,
    ) -> Self {
        let goes_on = hold.terms.linger.is_some() && !queued;
        let listening = if goes_on { listening.take() } else { None };
        Self {
            hold,
            listening: listening.map(Box::new),
            queued,
        }
    }
}

/// The right and duty to ask the server. Dropping it hands the duty to the next in line.
#[must_use = "dropping it makes the next task ask"]
pub(in crate::lock) struct Lead {
    gates: Arc<Gates>,
    key: LockKey,
    /// The reference to a hold whose slice is over: the task goes on with it if the server agrees. Boxed, because it is rare.
    share: Option<Box<Share>>,
    /// Whether the gate has heard how it ended.
    over: bool,
}

impl Lead {
    pub(super) fn new(gates: &Arc<Gates>, key: &LockKey, share: Option<Share>) -> Self {
        Self {
            gates: Arc::clone(gates),
            key: key.clone(),
            share: share.map(Box::new),
            over: false,
        }
    }

    /// The reference to a hold whose slice is over, if any.
    pub(in crate::lock) fn take_share(&mut self) -> Option<Share> {
        self.share.take().map(|share| *share)
    }

    /// For how long this process has had the lock, from task to task.
    pub(in crate::lock) fn had_for(&self) -> Duration {
        let now = BootInstant::now();
        let had_for = self.gates.at(&self.key, |line| line.had_for(now));
        had_for.unwrap_or_default()
    }

    /// The process leaves the lock to others for a while.
    pub(in crate::lock) fn steps_aside(&self) {
        self.gates.at(&self.key, Line::steps_aside);
    }

    /// The server granted a new hold.
    pub(in crate::lock) fn hold_granted(mut self, acquired: Acquired) -> Share {
        self.over = true;
        self.gates.hold_granted(acquired)
    }

    /// The server lets this process go on with a hold.
    pub(in crate::lock) fn slice_granted(mut self, hold: &Arc<Hold>) {
        self.over = true;
        self.gates.slice_granted(hold);
    }

    /// No server serves the lock at the moment, or one does again. Tasks whose timeout ends get this as the reason.
    pub(in crate::lock) fn troubled(&self, trouble: Option<&Error>) {
        self.gates.troubled(&self.key, trouble);
    }

    /// The server cannot be asked, neither by this task nor by the waiting ones.
    pub(in crate::lock) fn refused(mut self, error: &Error) {
        self.over = true;
        self.gates.refused(&self.key, error);
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        // The share first, so that the next task finds the hold given back.
        drop(self.share.take());
        if !self.over {
            self.gates.gave_up(&self.key);
        }
    }
}

impl fmt::Debug for Lead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lead")
            .field("key", &self.key.as_str())
            .finish_non_exhaustive()
    }
}

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
