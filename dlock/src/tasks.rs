//! Where background tasks start: nothing else spawns, so that a test can replace it here. (The thread of `blocking` is
//! where its runtime lives.)

#[cfg(dlock_sim)]
pub(crate) use crate::sim::{AbortHandle, JoinSet, spawn};
#[cfg(not(dlock_sim))]
pub(crate) use tokio::task::{AbortHandle, JoinSet};

/// Starts a task on the current Tokio runtime that nobody waits for.
#[cfg(not(dlock_sim))]
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(task).abort_handle()
}
