//! How long a server is waited for that does not answer, and over which connection.

use std::time::Duration;

use dlock::__internals::Script;
use dlock_tests::{
    FaultProxy, RedisServer, builder, connect, request_of, scaled, unique_prefix, wait_until,
};
use tokio::time::sleep;

use crate::demoted::servers::{follow, pair, promote, takes, url};

const SOON: Duration = Duration::from_secs(30);
/// Less than a master's own clients endure.
const SILENCE: Duration = Duration::from_millis(1750);

/// Its clients stay with it.
#[tokio::test]
async fn a_master_that_is_silent_for_a_moment_is_not_overlooked_at_a_start() {
    let (a, b) = pair().await;
    let (seeds, prefix) = (url([&a, &b]), unique_prefix());
    let before = connect(&seeds, &prefix).await;
    promote(&b).await;
    a.pause();
    let asks = tokio::spawn(async move { takes(&before).await });
    let builds = tokio::spawn(async move { builder(&seeds, &prefix).build().await });
    sleep(SILENCE).await;
    a.resume();
    let stays = asks.await.expect("no panic");
    if let Ok(after) = builds.await.expect("no panic") {
        assert!(!(stays && takes(&after).await), "both hold it");
    }
}

/// However long it would be waited for on a connection that works.
#[tokio::test]
async fn a_dead_connection_is_no_reason_to_leave_its_server() {
    let (a, b) = pair().await;
    let proxy = FaultProxy::start(a.addr());
    let prefix = unique_prefix();
    let build = |seeds: String| {
        let patient = builder(&seeds, &prefix).retry_for(Duration::from_secs(20));
        patient.response_timeout(Duration::from_secs(10)).build()
    };
    let stays = build(url([&a, &b])).await.expect("a master");
    let through_it = format!("redis://{},{}", proxy.addr(), b.addr());
    let half_open = build(through_it).await.expect("a master");
    promote(&b).await;
    proxy.mute_request(request_of(Script::Acquire), 1);
    let lock = half_open.rw_lock("one").expect("a valid name");
    lock.write_timeout(Duration::from_millis(500))
        .await
        .expect_err("its connection is dead");
    let (one, two) = tokio::join!(takes(&stays), takes(&half_open));
    assert!(one != two, "held by both or by nobody: {one}, {two}");
}

/// A service's name, or a balancer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_leads_to_another_master_now_is_followed() {
    let (a, b) = pair().await;
    let service = FaultProxy::start(a.addr());
    let prefix = unique_prefix();
    let client = connect(&service.url(), &prefix).await;
    let lock = client.rw_lock("one").expect("a valid name");
    let guard = lock.write().await.expect("free");
    guard.release().await.expect("held to the end");
    promote(&b).await;
    service.lead_to(b.addr());
    follow(&a, &b).await;
    wait_until(SOON, "the lock is at the new master", || async {
        lock.write().await.is_ok()
    })
    .await;
    // Waiters receive messages from there, too.
    let other = connect(&service.url(), &prefix).await;
    let held = lock.write().await.expect("free");
    let waits = tokio::spawn(async move { takes(&other).await });
    wait_until(SOON, "the other one waits", || async {
        let info = lock.inspect().await;
        info.is_ok_and(|info| !info.waiters.is_empty())
    })
    .await;
    held.release().await.expect("held to the end");
    assert!(waits.await.expect("no panic"));
}

#[tokio::test]
async fn a_seed_may_be_named_twice() {
    let (a, b) = pair().await;
    let client = connect(&url([&a, &b, &b]), &unique_prefix()).await;
    promote(&b).await;
    follow(&a, &b).await;
    let lock = client.rw_lock("one").expect("a valid name");
    wait_until(SOON, "the lock is at the new master", || async {
        lock.write().await.is_ok()
    })
    .await;
}

/// The host of a replica is gone without a word.
#[tokio::test]
async fn a_seed_that_is_silent_leaves_time_for_a_start() {
    let server = RedisServer::start().await;
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = silent.local_addr().expect("it is bound");
    let patience = scaled(Duration::from_secs(5));
    let seeds = format!("redis://{},{silent}", server.addr());
    let builder = builder(&seeds, &unique_prefix()).response_timeout(patience);
    builder
        .retry_for(patience)
        .build()
        .await
        .expect("the master answers");
}
