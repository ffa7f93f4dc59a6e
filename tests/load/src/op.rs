//! One operation of a task: taking a lock, holding it, giving it back.

use crate::random::Random;
use crate::{MS, Nanos};

/// How long one waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Not at all.
    Try,
    /// So long.
    For(Nanos),
    /// Until it is had.
    Forever,
}

/// How a hold ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It is released, and the server's answer awaited.
    Release,
    /// The guard is dropped.
    Drop,
    /// The release is begun, and its future dropped.
    Cancelled,
}

/// The owner takes the lock again while it has it.
#[derive(Debug, Clone, Copy)]
pub struct Inner {
    /// Reads otherwise.
    pub write: bool,
    /// How long it waits.
    pub patience: Nanos,
}

/// One operation.
#[derive(Debug, Clone)]
pub struct Op {
    /// More than one are taken together, by the attribute.
    pub locks: Vec<usize>,
    /// Reads otherwise.
    pub write: bool,
    /// How long it waits.
    pub patience: Patience,
    /// An explicit one.
    pub owner: Option<usize>,
    /// The future is dropped when it has been polled so often.
    pub cancel: Option<u64>,
    /// How long it is held.
    pub hold: Nanos,
    /// How long no other client may have it, even if it is released before.
    pub min_hold: Option<Nanos>,
    /// Whether one that is lost is left early.
    pub until_lost: bool,
    /// Taken meanwhile.
    pub inner: Option<Inner>,
    /// How it is given back.
    pub ending: Ending,
    /// What passes before it begins.
    pub rest: Nanos,
}

impl Op {
    /// As a job does it that is to run once on many hosts: every other time the lock stays taken for a while.
    #[must_use]
    pub fn with_min_hold(mut self, mut random: Random) -> Self {
        let min_hold = random.chance(500).then(|| random.scaled(MS, 400 * MS));
        self.min_hold = min_hold.filter(|_| self.owner.is_none());
        self
    }
}
