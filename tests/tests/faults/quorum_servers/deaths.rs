//! Servers that die, freeze, or come back empty.

use std::time::{Duration, Instant};

use dlock::ErrorKind;
use dlock_tests::{scaled, wait_until};
use futures_util::future::join_all;
use tokio::time::sleep;

use crate::quorum_servers::Servers;

const LEASE: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread")]
async fn with_two_of_five_killed_it_goes_on() {
    let five = Servers::start(5).await;
    let client = five.builder().lease(LEASE).build().await.expect("there");
    let lock = client.rw_lock("a").expect("ok");
    let held = lock.write().await.expect("free");
    let first = held.fencing_token();
    five.servers[0].kill();
    five.servers[3].kill();
    // Beyond its lease.
    sleep(LEASE + LEASE / 2).await;
    held.check().expect("renewed by the others");
    let other = five.client().await.rw_lock("a").expect("ok");
    assert!(other.try_write().await.expect("answered").is_none());
    held.release().await.expect("held to the end");
    let mut last = first;
    for _ in 0..50 {
        let guard = other.write().await.expect("free");
        assert!(guard.fencing_token() > last);
        last = guard.fencing_token();
        guard.release().await.expect("held");
    }
    client.shutdown().await.expect("all is given back");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_three_of_five_killed_an_error_says_so_in_time_and_nothing_is_left() {
    let five = Servers::start(5).await;
    let patience = Duration::from_secs(2);
    let client = five.builder().retry_for(patience).build().await;
    let client = client.expect("all are there");
    let lock = client.rw_lock("a").expect("ok");
    for dead in 0..3 {
        five.servers[dead].kill();
    }
    let begun = Instant::now();
    let error = lock.write().await.expect_err("no majority");
    assert!(
        begun.elapsed() < scaled(2 * patience),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("2 of 5 servers"), "{error}");
    five.wait_nothing_left([3, 4], "a").await;
    for dead in 0..3 {
        five.servers[dead].restart().await;
    }
    five.wait_nothing_left(0..5, "a").await;
    let guard = lock.write().await.expect("they are back");
    guard.release().await.expect("held");
}

/// The last request before the deadline may have no time to be answered, which says nothing about the servers.
#[tokio::test(flavor = "multi_thread")]
async fn killed_servers_are_unavailable_whenever_the_time_is_over() {
    let five = Servers::start(5).await;
    // The longer the lease, the longer members may take to answer.
    let client = five.builder().lease(Duration::from_secs(60));
    let client = client.retry_for(scaled(Duration::from_secs(2)));
    let client = client.build().await.expect("all are there");
    for dead in 0..3 {
        five.servers[dead].kill();
    }
    let calls = (0..100).map(async |call| {
        let lock = client.rw_lock(call.to_string()).expect("ok");
        // Times run out at different moments, some of them just after a request was sent.
        sleep(Duration::from_millis(call)).await;
        lock.write().await.expect_err("no majority")
    });
    for error in join_all(calls).await {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("2 of 5 servers"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn frozen_servers_are_told_to_forget_when_they_run_again() {
    let five = Servers::start(5).await;
    let patience = Duration::from_secs(2);
    let client = five.builder().retry_for(patience).build().await;
    let client = client.expect("all are there");
    let lock = client.rw_lock("a").expect("ok");
    lock.write()
        .await
        .expect("free")
        .release()
        .await
        .expect("held");
    for frozen in 0..3 {
        five.servers[frozen].pause();
    }
    let begun = Instant::now();
    let error = lock.write().await.expect_err("no majority");
    assert!(
        begun.elapsed() < scaled(2 * patience),
        "{:?}",
        begun.elapsed()
    );
    assert!(error.is_unavailable() || error.is_timeout(), "{error}");
    assert!(error.to_string().contains("2 of 5 servers"), "{error}");
    five.wait_nothing_left([3, 4], "a").await;
    for frozen in 0..3 {
        five.servers[frozen].resume();
    }
    // The requests of then arrive now.
    sleep(Duration::from_millis(300)).await;
    let guard = lock.write_timeout(scaled(Duration::from_secs(3))).await;
    let guard = guard.expect("long before the lease of 30 s would end");
    guard.release().await.expect("held");
    five.wait_nothing_left(0..5, "a").await;
}

/// Frozen for less than a request is valid, in the midst of an acquire.
#[tokio::test(flavor = "multi_thread")]
async fn a_short_freeze_leaves_nothing_either() {
    let five = Servers::start(5).await;
    let client = five.builder().lease(LEASE).build().await.expect("there");
    let lock = client.rw_lock("a").expect("ok");
    for round in 0..4 {
        for frozen in 0..3 {
            five.servers[frozen].pause();
        }
        let asking = {
            let lock = lock.clone();
            tokio::spawn(async move { lock.try_write().await })
        };
        sleep(Duration::from_millis(80 * round)).await;
        asking.abort();
        for frozen in 0..3 {
            five.servers[frozen].resume();
        }
        five.wait_nothing_left(0..5, "a").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_is_delivered_to_who_was_frozen() {
    let five = Servers::start(5).await;
    let client = five.client().await;
    let lock = client.rw_lock("a").expect("ok");
    let guard = lock.write().await.expect("free");
    five.servers[1].pause();
    five.servers[2].pause();
    guard.release().await.expect("a majority knows");
    five.servers[1].resume();
    five.servers[2].resume();
    five.wait_nothing_left(0..5, "a").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_comes_back_empty_lets_nobody_in_and_holds_again() {
    let five = Servers::start(5).await;
    let client = five.builder().lease(LEASE).build().await.expect("there");
    let guard = client
        .rw_lock("a")
        .expect("ok")
        .write()
        .await
        .expect("free");
    let other = five.client().await.rw_lock("a").expect("ok");
    // One after the other, so that in the end none has what it had at first.
    for server in 0..5 {
        five.servers[server].restart().await;
        for _ in 0..10 {
            assert!(other.try_write().await.expect("answered").is_none());
        }
        wait_until(
            Duration::from_secs(10),
            &format!("server {server} holds it again"),
            || async { !five.recorded(server, "a").await.holders.is_empty() },
        )
        .await;
    }
    let token = guard.fencing_token();
    guard.release().await.expect("held to the end");
    let next = other.write().await.expect("free");
    assert!(next.fencing_token() > token);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_starts_without_a_minority_and_reaches_it_later() {
    let five = Servers::start(5).await;
    five.servers[0].kill();
    five.servers[1].kill();
    let begun = Instant::now();
    let client = five.builder().lease(LEASE).build().await.expect("three");
    assert!(begun.elapsed() < scaled(Duration::from_secs(3)));
    let guard = client
        .rw_lock("a")
        .expect("ok")
        .write()
        .await
        .expect("free");
    five.servers[0].restart().await;
    five.servers[1].restart().await;
    for server in 0..2 {
        wait_until(
            Duration::from_secs(20),
            &format!("server {server} holds it, too"),
            || async { !five.recorded(server, "a").await.holders.is_empty() },
        )
        .await;
    }
    // So others may die now.
    five.servers[3].kill();
    five.servers[4].kill();
    sleep(2 * LEASE).await;
    guard.release().await.expect("held to the end");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_does_not_start_without_a_majority() {
    let three = Servers::start(3).await;
    three.servers[0].kill();
    three.servers[1].kill();
    let patience = Duration::from_secs(1);
    let begun = Instant::now();
    let refused = three.builder().retry_for(patience).build().await;
    let error = refused.expect_err("one of three");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("1 of 3 servers"), "{error}");
    assert!(
        begun.elapsed() < scaled(3 * patience),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_majority_that_is_gone_is_a_loss_in_time() {
    let five = Servers::start(5).await;
    let client = five.builder().lease(LEASE).build().await.expect("there");
    let guard = client
        .rw_lock("a")
        .expect("ok")
        .write()
        .await
        .expect("free");
    let begun = Instant::now();
    for dead in 0..3 {
        five.servers[dead].kill();
    }
    guard.lost().await;
    assert!(begun.elapsed() < LEASE + scaled(Duration::from_millis(100)));
}
