//! Programs and runtimes that end with locks in their hands.

use std::time::{Duration, Instant};

use dlock::blocking;
use dlock_tests::{
    Direction, FaultProxy, Worker, connect, scaled, shared_cluster, shared_server, unique_prefix,
};

const SOON: Duration = Duration::from_secs(20);

/// Runs the program `leaver` to its end, which frees the lock it took.
async fn leaves_nothing(how: &str) {
    for url in [shared_server().await.url(), shared_cluster().await.url()] {
        let prefix = unique_prefix();
        let arguments = [how, &url, &prefix];
        let leaver = Worker::spawn(env!("CARGO_BIN_EXE_leaver"), arguments);
        leaver.wait_success(SOON).await;
        let client = connect(&url, &prefix).await;
        let lock = client.rw_lock("one").expect("a valid name");
        let info = lock.inspect().await.expect("answered");
        assert!(info.holders.is_empty(), "{how}: {:?}", info.holders);
        assert!(info.waiters.is_empty(), "{how}: {:?}", info.waiters);
        let more = client.rw_lock("more:7").expect("a valid name");
        let info = more.inspect().await.expect("answered");
        assert!(info.holders.is_empty(), "{how}: {:?}", info.holders);
    }
}

#[tokio::test]
async fn a_guard_dropped_at_the_end_of_main_frees_the_lock() {
    leaves_nothing("one-thread").await;
    leaves_nothing("threads").await;
    leaves_nothing("installed").await;
}

#[tokio::test]
async fn main_that_fails_frees_the_lock() {
    leaves_nothing("question-mark").await;
    leaves_nothing("blocking-question-mark").await;
}

#[tokio::test]
async fn a_blocking_guard_dropped_at_the_end_of_main_frees_the_lock() {
    leaves_nothing("blocking").await;
}

#[tokio::test]
async fn tasks_that_end_with_their_runtime_free_their_locks() {
    leaves_nothing("task").await;
    leaves_nothing("many-tasks").await;
}

#[tokio::test]
async fn a_guard_dropped_after_its_runtime_frees_the_lock() {
    leaves_nothing("outlives-runtime").await;
}

#[tokio::test]
async fn an_acquire_cancelled_at_the_end_of_main_leaves_nothing() {
    leaves_nothing("cancelled").await;
}

/// However many locks there are to release, no exit waits for long for a server that does not answer.
#[test]
fn an_end_waits_for_a_silent_server_within_a_bound() {
    let lasting = tokio::runtime::Runtime::new().expect("a runtime starts");
    let proxy = lasting.block_on(async { FaultProxy::start(shared_server().await.addr()) });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime starts");
    let client = runtime.block_on(connect(&proxy.url(), &unique_prefix()));
    for number in 0..20 {
        let lock = client.rw_lock(format!("{number}")).expect("a valid name");
        let guard = runtime.block_on(lock.write()).expect("free");
        runtime.spawn(async move {
            std::future::pending::<()>().await;
            drop(guard);
        });
    }
    proxy.blackhole(Direction::Both);
    let began = Instant::now();
    drop(runtime);
    let took = began.elapsed();
    assert!(took < scaled(Duration::from_secs(3)), "{took:?}");

    let blocking = blocking::Client::builder()
        .url(proxy.url())
        .prefix(unique_prefix());
    proxy.pass();
    let client = blocking.build_blocking().expect("the server is up");
    let guard = client
        .rw_lock("one")
        .expect("a valid name")
        .write()
        .expect("free");
    proxy.blackhole(Direction::Both);
    let began = Instant::now();
    drop(guard);
    let took = began.elapsed();
    assert!(took < scaled(Duration::from_secs(3)), "{took:?}");
}
