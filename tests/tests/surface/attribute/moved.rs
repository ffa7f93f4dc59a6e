//! Calls that are begun in a body and go on in another task.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use dlock::{Client, Error, ErrorKind, distributed_lock};
use dlock_tests::{connect, stores, unique_prefix};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

const MOMENT: Duration = Duration::from_millis(50);

/// How many tasks are in the lock at once.
#[derive(Clone, Default)]
struct Inside(Arc<AtomicU32>);

impl Inside {
    async fn stay(&self, long: Duration) -> u32 {
        let now = self.0.fetch_add(1, SeqCst) + 1;
        sleep(long).await;
        self.0.fetch_sub(1, SeqCst);
        now
    }
}

#[distributed_lock(key = "order", client = client, wait = "none")]
async fn come(client: &Client, inside: &Inside) -> Result<u32, Error> {
    Ok(inside.stay(MOMENT).await)
}

/// Under a lock of its own.
#[distributed_lock(key = "item", client = &client)]
async fn come_later(client: Client, inside: Inside, go: Arc<Notify>) -> Result<u32, Error> {
    go.notified().await;
    come(&client, &inside).await
}

/// Under the lock of its caller, entered again.
#[distributed_lock(key = "order", client = &client, wait = "none")]
async fn stay_later(client: Client, inside: Inside, go: Arc<Notify>) -> Result<u32, Error> {
    go.notified().await;
    Ok(inside.stay(MOMENT).await)
}

/// The same, which does not care for the lock.
#[distributed_lock(key = "order", client = &client, wait = "none", on_lost = "continue")]
async fn stay_regardless(client: Client, inside: Inside, go: Arc<Notify>) -> Result<u32, Error> {
    go.notified().await;
    Ok(inside.stay(MOMENT).await)
}

type Call = Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>>;
type Start = fn(Client, Inside, Arc<Notify>) -> Call;

/// Begins a call that takes too long, and leaves it to a task.
#[distributed_lock(key = "order", client = client)]
async fn leave_behind(client: &Client, start: Start) -> Result<Result<u32, Error>, Error> {
    let (inside, go) = (Inside::default(), Arc::new(Notify::new()));
    let mut begun = start(client.clone(), inside.clone(), Arc::clone(&go));
    timeout(MOMENT, &mut begun)
        .await
        .expect_err("it takes too long");
    let left = tokio::spawn(begun);
    go.notify_one();
    inside.stay(4 * MOMENT).await;
    Ok(left.await.expect("no panic"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_was_moved_to_a_task_has_not_its_callers_lock() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let left = leave_behind(&client, |a, b, c| Box::pin(come_later(a, b, c))).await;
        let error = left.expect("free").expect_err("its caller's");
        assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_has_entered_again_does_not_go_on_in_another_task() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let calls: [Start; 2] = [
            |a, b, c| Box::pin(stay_later(a, b, c)),
            |a, b, c| Box::pin(stay_regardless(a, b, c)),
        ];
        for start in calls {
            let left = leave_behind(&client, start).await.expect("free");
            let error = left.expect_err("its caller's");
            assert!(error.is_lost(), "{error}");
        }
    }
}

/// A whole call may move: it takes its lock along.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outermost_call_may_go_on_in_another_task() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let (inside, go) = (Inside::default(), Arc::new(Notify::new()));
        let mut whole = Box::pin(nests_later(client, inside, Arc::clone(&go)));
        timeout(MOMENT, &mut whole).await.expect_err("it waits");
        go.notify_one();
        let nested = tokio::spawn(whole).await.expect("no panic");
        assert_eq!(nested.expect("entered again"), 1);
    }
}

#[distributed_lock(key = "order", client = &client)]
async fn nests_later(client: Client, inside: Inside, go: Arc<Notify>) -> Result<u32, Error> {
    go.notified().await;
    come(&client, &inside).await
}
