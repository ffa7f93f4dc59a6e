//! Where background tasks start: nothing else spawns, so that a test can replace it here.

/// Starts a task on the current Tokio runtime that nobody waits for.
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}
