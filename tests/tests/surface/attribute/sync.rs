//! Functions that are not async, and the blocking API below them.

use std::time::Duration;

use dlock::{Client, Error, ErrorKind, LossReason, blocking, distributed_lock};
use dlock_tests::{SOON, connect, stores, unique_prefix, wait_free};

const NOT_LONG: Duration = Duration::from_millis(50);

#[distributed_lock(key = "order:{id}", client = client, wait = wait, guard = lock)]
fn ship(client: &Client, id: u64, wait: Duration) -> Result<u64, Error> {
    lock.check()?;
    nested(client, id)
}

#[distributed_lock(key = "order:{id}", client = client, mode = "read", guard = lock)]
fn nested(client: &Client, id: u64) -> Result<u64, Error> {
    Ok(lock.fencing_token().as_u64())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn it_works_inside_a_multi_threaded_runtime() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let held = client.rw_lock("order:1").expect("valid").write().await;
        let in_task = client.clone();
        // On the runtime's only worker, which the client's own tasks need meanwhile.
        let refused = tokio::spawn(async move { ship(&in_task, 1, NOT_LONG) }).await;
        assert!(refused.expect("no panic").expect_err("held").is_timeout());
        held.expect("free")
            .release()
            .await
            .expect("held to the end");
        let in_pool = client.clone();
        let shipped = tokio::task::spawn_blocking(move || ship(&in_pool, 1, SOON)).await;
        assert!(shipped.expect("no panic").expect("free") > 0);
        wait_free(&client.rw_lock("order:1").expect("valid")).await;
    }
}

#[tokio::test]
async fn on_the_only_thread_of_the_client_it_says_so_at_once() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let refused = ship(&client, 1, SOON).expect_err("it would wait for itself");
        assert!(refused.is_would_deadlock(), "{refused}");
        assert!(refused.to_string().contains("spawn_blocking"), "{refused}");
        let in_pool = client.clone();
        let shipped = tokio::task::spawn_blocking(move || ship(&in_pool, 1, SOON)).await;
        assert!(shipped.expect("no panic").expect("free") > 0);
    }
}

#[tokio::test]
async fn a_blocking_client_works_inside_any_runtime() {
    for url in stores().await {
        let client = blocking::Client::builder()
            .url(url)
            .prefix(unique_prefix())
            .build_blocking()
            .expect("the store is there");
        assert!(ship(&client.clone().into(), 1, SOON).expect("free") > 0);
        client.shutdown().expect("nothing is held");
    }
}

#[distributed_lock(key = "order", client = client, lease = "200ms", max_hold = "200ms", guard = lock)]
fn outlives_its_lease(client: &blocking::Client) -> Result<ErrorKind, Error> {
    // A thread cannot be stopped: it has to look.
    while !lock.is_lost() {
        assert!(lock.lease_left() <= Duration::from_millis(200));
        std::thread::yield_now();
    }
    assert_eq!(lock.lease_left(), Duration::ZERO);
    Ok(lock.check().expect_err("lost").kind())
}

#[test]
fn the_guard_of_a_sync_function_tells_of_the_loss() {
    let client = blocking::Client::connect("memory://").expect("memory is there");
    let kind = outlives_its_lease(&client).expect("the body decides");
    assert!(matches!(
        kind,
        ErrorKind::Lost(LossReason::Expired | LossReason::MaxHold)
    ));
}

#[distributed_lock(keys = ["a", "b"], client = client, wait = "none", on_busy = false)]
fn both(client: &blocking::Client) -> bool {
    assert_eq!(
        dlock::current()
            .map(|lock| lock.key().name().to_owned())
            .as_deref(),
        Some("b")
    );
    true
}

#[distributed_lock(key = "a", client = client)]
fn panics(client: &blocking::Client) -> Result<(), Error> {
    panic!("the body's own fault")
}

#[test]
fn outside_a_runtime_everything_works_too() {
    let client = blocking::Client::connect("memory://").expect("memory is there");
    let lock = client
        .rw_lock("a")
        .expect("valid")
        .lease(Duration::from_secs(5))
        .label("a");
    let guard = lock.write().expect("free");
    guard.check().expect("held");
    assert!(!both(&client));
    assert!(lock.try_read().expect("answered").is_none());
    assert!(
        lock.read_timeout(Duration::from_millis(5))
            .expect_err("held")
            .is_timeout()
    );
    guard.release().expect("held to the end");
    assert!(both(&client));
    let panicked = std::thread::scope(|scope| scope.spawn(|| panics(&client)).join());
    assert!(panicked.is_err());
    let guards = (lock.read().expect("free"), lock.try_read().expect("free"));
    assert_eq!(
        lock.inspect().expect("answered").mode(),
        Some(dlock::LockMode::Read)
    );
    drop(guards);
    lock.write_timeout(Duration::from_secs(5))
        .expect("free")
        .release()
        .expect("held to the end");
}
