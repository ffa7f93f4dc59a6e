//! Guards that go away in other ways than by `release`.

use std::{panic::AssertUnwindSafe, time::Duration};

use dlock::{Client, distributed_lock};
use dlock_tests::{SOON, connect, scaled, shared_cluster, stores, unique_prefix, wait_free};

#[distributed_lock(key = "{name}", mode = "write", client = client)]
async fn panics(client: &Client, name: &str) -> Result<(), dlock::Error> {
    tokio::task::yield_now().await;
    panic!("as planned");
}

#[tokio::test]
async fn a_panic_in_the_body_releases() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let lock = client.rw_lock("one").expect("a valid name");
        let task = tokio::spawn({
            let client = client.clone();
            async move { panics(&client, "one").await }
        });
        assert!(task.await.expect_err("it panics").is_panic());
        let guard = lock.write_timeout(scaled(SOON)).await.expect("free");
        let holding = tokio::spawn(async move {
            let _guard = guard;
            panic!("as planned");
        });
        assert!(holding.await.expect_err("it panics").is_panic());
        wait_free(&lock).await;
    }
}

#[tokio::test]
async fn a_cancelled_body_releases() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let lock = client.rw_lock("one").expect("a valid name");
        let guard = lock.write().await.expect("free");
        let task = tokio::spawn(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        tokio::task::yield_now().await;
        task.abort();
        wait_free(&lock).await;
    }
}

/// Guards and clients outlive their runtime: what is held is renewed, what is dropped is released, and what waited for it
/// leaves nothing behind.
#[test]
fn a_dropped_runtime_ends_no_hold_and_keeps_none() {
    let lasting = tokio::runtime::Runtime::new().expect("a runtime starts");
    let (url, prefix) = (
        lasting.block_on(async { shared_cluster().await.url() }),
        unique_prefix(),
    );
    let lease = Duration::from_secs(3);

    let short = tokio::runtime::Runtime::new().expect("a runtime starts");
    let (client, write, read) = short.block_on(async {
        let builder = dlock_tests::builder(&url, &prefix).lease(lease);
        let client = builder.build().await.expect("the cluster is up");
        let one = client.rw_lock("one").expect("a valid name");
        let two = client.rw_lock("two").expect("a valid name");
        let (write, read) = (one.write().await, two.read().await);
        // Tasks that wait when the runtime goes.
        for lock in [one, two] {
            tokio::spawn(async move { lock.write().await.map(drop) });
        }
        tokio::task::yield_now().await;
        (client, write.expect("free"), read.expect("free"))
    });
    drop(short);
    let dropped = std::panic::catch_unwind(AssertUnwindSafe(|| drop(write)));
    dropped.expect("dropping a guard without its runtime does not panic");

    lasting.block_on(async {
        let other = connect(&url, &prefix).await;
        let one = other.rw_lock("one").expect("a valid name");
        wait_free(&one).await;
        tokio::time::sleep(2 * lease).await;
        read.check().expect("renewed although its runtime is gone");
        let two = other.rw_lock("two").expect("a valid name");
        assert!(two.try_write().await.expect("answered").is_none());
        read.release().await.expect("held to the end");
        wait_free(&two).await;
        let again = client.rw_lock("one").expect("a valid name");
        let guard = again.write_timeout(scaled(SOON)).await.expect("free");
        guard.release().await.expect("held to the end");
    });
}

#[tokio::test]
async fn a_shutdown_ends_what_is_held_and_what_waits() {
    for url in stores().await {
        let prefix = unique_prefix();
        let client = connect(&url, &prefix).await;
        let lock = client.rw_lock("one").expect("a valid name");
        let guard = lock.write().await.expect("free");
        let waiting = tokio::spawn({
            let lock = lock.clone();
            async move { lock.write().await.map(drop) }
        });
        tokio::task::yield_now().await;
        client.shutdown().await.expect("everything was given back");
        assert!(guard.is_lost());
        let error = guard.release().await.expect_err("it was lost");
        assert!(error.is_lost(), "{error}");
        let error = waiting.await.expect("no panic").expect_err("turned away");
        assert!(error.is_closed(), "{error}");
        let error = lock.read().await.expect_err("the client is closed");
        assert!(error.is_closed(), "{error}");
        client.shutdown().await.expect("a second time is harmless");

        let other = connect(&url, &prefix).await;
        let lock = other.rw_lock("one").expect("a valid name");
        let guard = lock.try_write().await.expect("answered");
        drop(guard.expect("nothing was left behind"));
    }
}

/// Whatever the renewal of a hold is at when the client is shut down, the hold ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_misses_no_hold() {
    for round in 0..10 {
        let url = &stores().await[1];
        let prefix = unique_prefix();
        let builder = dlock_tests::builder(url, &prefix).lease(Duration::from_millis(600));
        let client = builder.build().await.expect("the cluster is up");
        let mut guards = Vec::new();
        for number in 0..200 {
            let lock = client.rw_lock(format!("lock:{number}"));
            guards.push(lock.expect("valid").write().await.expect("free"));
        }
        // At different points of the renewals, of which there is one every millisecond or so.
        tokio::time::sleep(Duration::from_millis(200 + 7 * round)).await;
        client.shutdown().await.expect("everything was given back");
        let live = guards.iter().filter(|guard| !guard.is_lost()).count();
        assert_eq!(live, 0, "round {round}");
    }
}
