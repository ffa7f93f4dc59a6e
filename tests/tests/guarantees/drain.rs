//! A client that ends well: what runs may finish.

use std::future::ready;
use std::pin::pin;
use std::time::Duration;

use dlock::{
    Client, ClientBuilder, Error, ErrorKind, LossReason, TimeoutStep, blocking, distributed_lock,
};
use dlock_tests::{
    Direction, ProxiedLock, SOON, connect, scaled, stores, unique_prefix, wait_free, wait_until,
    wait_waiters,
};
use tokio::sync::oneshot;

#[distributed_lock(key = "running", client = client)]
async fn run(
    client: Client,
    inside: oneshot::Sender<()>,
    go_on: oneshot::Receiver<()>,
) -> Result<bool, Error> {
    inside.send(()).expect("the test waits");
    go_on.await.expect("the test tells");
    // What it entered already it may enter again, but nothing new.
    nested(&client).await?;
    Ok(client
        .rw_lock("other")?
        .write()
        .await
        .is_err_and(|error| error.is_closed()))
}

#[distributed_lock(key = "running", client = client)]
async fn nested(client: &Client) -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn what_runs_finishes_and_nothing_new_starts() {
    for url in stores().await {
        let prefix = unique_prefix();
        let client = connect(&url, &prefix).await;
        let other = connect(&url, &prefix).await;
        let ((inside, is_inside), (go_on, may_go_on)) = (oneshot::channel(), oneshot::channel());
        let running = tokio::spawn(run(client.clone(), inside, may_go_on));
        is_inside.await.expect("the lock is free");
        let held = other
            .rw_lock("taken")
            .expect("valid")
            .write()
            .await
            .expect("free");
        let waiting = client.rw_lock("taken").expect("valid");
        let waiting = tokio::spawn(async move { waiting.write().await.map(drop) });
        wait_waiters(&other.rw_lock("taken").expect("valid"), 1).await;

        let draining = client.clone();
        let draining = tokio::spawn(async move { draining.drain(scaled(SOON)).await });
        let turned_away = waiting.await.expect("no panic").expect_err("no new locks");
        assert!(turned_away.is_closed(), "{turned_away}");
        let lock = client.rw_lock("new").expect("valid");
        let refused = lock.write().await.expect_err("no new locks");
        for error in [&turned_away, &refused] {
            assert!(
                error.is_closed() && error.to_string().contains("drain"),
                "{error:?}"
            );
        }
        assert!(!draining.is_finished(), "something runs");
        go_on.send(()).expect("it waits");
        assert!(running.await.expect("no panic").expect("held to the end"));
        draining.await.expect("no panic").expect("all is done");
        let error = lock.write().await.expect_err("shut down");
        assert!(
            error.is_closed() && error.to_string().contains("was shut down"),
            "{error:?}"
        );
        wait_free(&other.rw_lock("running").expect("valid")).await;
        held.release().await.expect("held to the end");
        wait_free(&other.rw_lock("taken").expect("valid")).await;
    }
}

/// The answer to who had asked before comes when the drain has begun, and something else is held.
#[tokio::test]
async fn what_is_granted_too_late_is_given_back() {
    let patient = |client: ClientBuilder| {
        let client = client
            .retry_for(scaled(SOON))
            .response_timeout(scaled(SOON));
        client.lease(scaled(3 * SOON))
    };
    let scene = ProxiedLock::start(patient).await;
    let held = scene.client.rw_lock("other").expect("valid").write().await;
    let held = held.expect("free");
    scene.proxy.blackhole(Direction::ToClient);
    let asking = scene.lock.clone();
    let asking = tokio::spawn(async move { asking.write().await.map(drop) });
    wait_until(SOON, "it is granted", || async {
        scene.state().await.holders.len() == 1
    })
    .await;
    let mut draining = pin!(scene.client.drain(scaled(SOON)));
    tokio::select! {
        biased;
        _ = &mut draining => panic!("something is held"),
        () = ready(()) => {}
    }
    scene.proxy.pass();
    let turned_away = asking.await.expect("no panic").expect_err("no new locks");
    assert!(turned_away.is_closed(), "{turned_away}");
    held.release().await.expect("held to the end");
    draining.await.expect("all is done");
    scene.assert_free().await;
}

#[tokio::test]
async fn what_takes_too_long_is_lost() {
    for url in stores().await {
        let prefix = unique_prefix();
        let client = connect(&url, &prefix).await;
        let lock = client.rw_lock("one").expect("valid");
        let guard = lock.write().await.expect("free");
        let error = client
            .drain(Duration::from_millis(50))
            .await
            .expect_err("held");
        assert_eq!(error.kind(), ErrorKind::Timeout(TimeoutStep::Release));
        let lost = guard.release().await.expect_err("given up");
        assert_eq!(lost.kind(), ErrorKind::Lost(LossReason::Shutdown));
        wait_free(&connect(&url, &prefix).await.rw_lock("one").expect("valid")).await;
    }
}

#[tokio::test]
async fn renewals_go_on_meanwhile() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let lease = scaled(Duration::from_millis(600));
        let lock = client.rw_lock("one").expect("valid").lease(lease);
        let guard = lock.read().await.expect("free");
        let draining = client.clone();
        let draining = tokio::spawn(async move { draining.drain(scaled(SOON)).await });
        tokio::time::sleep(2 * lease).await;
        guard.release().await.expect("held to the end");
        draining.await.expect("no panic").expect("all is done");
    }
}

#[test]
fn a_blocking_client_drains_too() {
    let client = blocking::Client::connect("memory://").expect("memory is there");
    let guard = client.rw_lock("one").expect("valid").write().expect("free");
    let draining = client.clone();
    let draining = std::thread::spawn(move || draining.drain(SOON));
    let lock = client.rw_lock("two").expect("valid");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(wait_until(SOON, "the client is closed", || async {
        lock.try_write().is_err_and(|error| error.is_closed())
    }));
    guard.release().expect("held to the end");
    draining.join().expect("no panic").expect("all is done");
}
