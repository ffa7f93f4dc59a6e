//! Work on many locks, divided among tasks.

use std::ops::Range;

use dlock::{Client, WriteGuard};
use tokio::task::JoinSet;

use crate::system::Kind;

/// How many acquires [`hold`] makes at a time.
const TASKS: usize = 64;

/// Runs `work` for each number. The tasks take the numbers in turns, and each handles its numbers one after another.
pub(super) async fn divide<F>(
    tasks: usize,
    numbers: Range<usize>,
    work: impl Fn(usize) -> F + Clone + Send + 'static,
) -> Vec<F::Output>
where
    F: Future<Output: Send + 'static> + Send,
{
    let mut running = JoinSet::new();
    for task in 0..tasks {
        let (numbers, work) = (numbers.clone(), work.clone());
        running.spawn(async move {
            let mut outputs = Vec::new();
            for n in numbers.skip(task).step_by(tasks) {
                outputs.push(work(n).await);
            }
            outputs
        });
    }
    running.join_all().await.into_iter().flatten().collect()
}

/// Acquires so many locks of a workload.
pub(super) async fn hold(client: &Client, workload: &'static str, locks: usize) -> Vec<WriteGuard> {
    let client = client.clone();
    let acquire = move |n| {
        let lock = client.rw_lock(Kind::Dlock.key(workload, n));
        let lock = lock.expect("a valid name");
        async move { lock.write().await.expect("the lock is free") }
    };
    divide(TASKS, 0..locks, acquire).await
}
