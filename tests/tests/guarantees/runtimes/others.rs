//! Executors that are not Tokio's, and functions that are not async.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use dlock::{Client, Error, blocking, distributed_lock};
use dlock_tests::{connect, stores, unique_prefix};
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

use super::{Stage, short};

/// Between two looks of a blocked thread.
const PAUSE: Duration = Duration::from_millis(5);

/// The plainest executor.
fn plain<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Pending once, without a runtime.
async fn turn() {
    let mut first = true;
    std::future::poll_fn(|cx| {
        if std::mem::take(&mut first) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
}

#[distributed_lock(key = "called", client = client)]
async fn call(client: &Client) -> Result<(), Error> {
    turn().await;
    Ok(())
}

#[distributed_lock(keys = ["one", "two"], client = client, wait = "50ms")]
async fn both(client: &Client) -> Result<(), Error> {
    turn().await;
    Ok(())
}

/// All that an async user does, without Tokio.
async fn use_everything(client: &Client) {
    call(client).await.expect("free");
    both(client).await.expect("free");
    let lock = client.rw_lock("short").expect("valid").lease(short());
    let guard = lock.write().await.expect("free");
    let late = client.rw_lock("short").expect("valid");
    let late = late.write_timeout(Duration::from_millis(50)).await;
    assert!(late.expect_err("held").is_timeout());
    // The executor is blocked meanwhile.
    let began = Instant::now();
    while began.elapsed() < 2 * short() {
        guard.check().expect("renewed");
        thread::sleep(PAUSE);
    }
    guard.release().await.expect("held to the end");
    drop(lock.read().await.expect("free"));
    lock.inspect().await.expect("answered");
    assert!(client.list("*").await.is_ok());
}

#[test]
fn a_plain_executor_uses_a_blocking_client() {
    let lasting = Runtime::new().expect("a runtime starts");
    for url in lasting.block_on(stores()) {
        let prefix = unique_prefix();
        let builder = blocking::Client::builder().url(&url).prefix(&prefix);
        let client: Client = builder.build_blocking().expect("there").into();
        plain(use_everything(&client));
        plain(client.shutdown()).expect("all is given back");
        lasting.block_on(async {
            let witness = connect(&url, &prefix).await;
            assert!(witness.list("*").await.expect("answers").len() <= 4);
        });
    }
}

#[test]
fn a_plain_executor_uses_a_client_of_a_runtime() {
    for stage in Stage::each() {
        plain(use_everything(&stage.client));
        for name in ["called", "one", "two", "short"] {
            stage.wait_free(name);
        }
    }
}

#[test]
fn a_client_can_be_built_without_tokio() {
    let lasting = Runtime::new().expect("a runtime starts");
    for url in lasting.block_on(stores()) {
        let client = plain(connect(&url, &unique_prefix()));
        plain(use_everything(&client));
    }
}

#[distributed_lock(key = "called", client = client)]
fn call_sync(client: &Client) -> Result<(), Error> {
    Ok(())
}

#[test]
fn a_function_that_is_not_async_says_so_where_a_local_set_must_not_wait() {
    let runtime = Runtime::new().expect("a runtime starts");
    runtime.block_on(async {
        for url in stores().await {
            let client = connect(&url, &unique_prefix()).await;
            let local = LocalSet::new();
            for _ in 0..2 {
                let called = client.clone();
                let task = local.spawn_local(async move { call_sync(&called) });
                let refused = local.run_until(task).await.expect("no panic");
                let refused = refused.expect_err("it might wait for itself");
                assert!(refused.is_would_deadlock(), "{refused}");
            }
            let called = client.clone();
            let pool = tokio::task::spawn_blocking(move || call_sync(&called));
            pool.await.expect("no panic").expect("free");
        }
    });
}

#[test]
fn a_function_that_is_not_async_uses_a_blocking_client_in_a_local_set() {
    let runtime = Runtime::new().expect("a runtime starts");
    for url in runtime.block_on(stores()) {
        let builder = blocking::Client::builder().url(url).prefix(unique_prefix());
        let client: Client = builder.build_blocking().expect("there").into();
        let local = LocalSet::new();
        let task = local.spawn_local(async move { call_sync(&client) });
        let called = runtime.block_on(local.run_until(task));
        called.expect("no panic").expect("free");
    }
}
