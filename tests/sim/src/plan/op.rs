//! One operation of a task: taking a lock, holding it, giving it back.

use crate::engine::Nanos;

/// How long one waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    Try,
    For(Nanos),
    Forever,
}

/// How a hold ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It is released, and the server's answer awaited.
    Release,
    /// The guard is dropped.
    Drop,
    /// The release is begun, and its future dropped.
    Cancelled,
}

/// The same owner takes the lock again while it has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inner {
    pub(crate) write: bool,
    pub(crate) patience: Nanos,
}

/// One operation.
#[derive(Debug, Clone)]
pub(crate) struct Op {
    /// More than one are taken together, by the attribute.
    pub(crate) locks: Vec<usize>,
    pub(crate) write: bool,
    pub(crate) patience: Patience,
    pub(crate) owner: Option<usize>,
    /// The future is dropped when it has been polled so often.
    pub(crate) cancel: Option<u64>,
    pub(crate) hold: Nanos,
    /// Whether one that is lost is left early.
    pub(crate) until_lost: bool,
    pub(crate) inner: Option<Inner>,
    pub(crate) ending: Ending,
    /// What passes before it begins.
    pub(crate) rest: Nanos,
}
