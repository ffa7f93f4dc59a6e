//! What comes of a lock that was passed on, when its server cannot be reached.

use std::time::Duration;

use dlock::__internals::Script;
use dlock_tests::{
    ProxiedCluster, ProxiedLock, builder, queue, request_of, slot_of_lock, unique_prefix,
    wait_until, wait_waiters,
};

const SOON: Duration = Duration::from_secs(20);

/// How long the shard is without a master.
const WITHOUT: Duration = Duration::from_millis(1500);

#[tokio::test]
async fn a_lock_passed_on_before_its_master_dies_outlasts_the_failover() {
    let proxied = ProxiedCluster::start().await;
    let (cluster, prefix) = (proxied.cluster(), unique_prefix());
    let connect = async || {
        let built = builder(&proxied.url(), &prefix).build().await;
        built.expect("the cluster is up")
    };
    let (from, to) = (connect().await, connect().await);
    let held = from.rw_lock("one").expect("a valid name");
    let wanted = to.rw_lock("one").expect("a valid name");
    let slot = slot_of_lock(&prefix, "one");
    let master = cluster.master_of(slot).await;
    let replica = cluster.replicas_of(slot).await[0];

    let guard = held.write().await.expect("free");
    let next = queue(&wanted);
    wait_waiters(&held, 1).await;
    // The new holder is cut off before it has confirmed the hold; its record has reached the replica.
    let renewal = request_of(Script::Renew);
    proxied.proxy(master).mute_request(&renewal, 1);
    guard.release().await.expect("held to the end");
    let guard = next.await.expect("no panic").expect("its turn");
    let copies: u64 = cluster.node(master).query(&["WAIT", "1", "5000"]).await;
    assert_eq!(copies, 1);
    // The replica takes over when this test says so, and not before.
    let waits = ["CONFIG", "SET", "cluster-replica-no-failover", "yes"];
    cluster.node(replica).query::<redis::Value>(&waits).await;
    cluster.node(master).kill();
    tokio::time::sleep(WITHOUT).await;
    guard
        .check()
        .expect("held while nobody could give it to others");
    cluster
        .node(replica)
        .query::<redis::Value>(&["CLUSTER", "FAILOVER", "TAKEOVER"])
        .await;

    wait_until(SOON, "the hold is renewed", || async {
        guard.check().expect("held all the time");
        guard.lease_left() > Duration::from_secs(10)
    })
    .await;
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn the_release_of_a_lock_that_was_passed_on_is_delivered_after_its_lease() {
    release_reaches_the_server_after_the_lease(Grant::Heard).await;
}

#[tokio::test]
async fn so_is_that_of_a_lock_whose_new_holder_found_it_by_asking_again() {
    release_reaches_the_server_after_the_lease(Grant::Found).await;
}

/// How a waiter learns that the lock was passed on to it.
enum Grant {
    Heard,
    Found,
}

/// The server keeps what was passed on for as long as the place was kept: longer than a lease of half a second.
async fn release_reaches_the_server_after_the_lease(grant: Grant) {
    let lease = Duration::from_millis(500);
    let line = ProxiedLock::start(|builder| builder.lease(lease)).await;
    let first = line.witness.write().await.expect("free");
    let next = queue(&line.lock);
    wait_waiters(&line.witness, 1).await;
    line.proxy.drop_pushes(matches!(grant, Grant::Found));
    first.release().await.expect("held to the end");
    let guard = next.await.expect("no panic").expect("its turn");
    line.proxy.refuse();
    line.proxy.cut_all();
    drop(guard);
    // Longer than the lease, and than a pause between two tries.
    tokio::time::sleep(lease * 5 / 2).await;
    line.proxy.pass();
    line.client.shutdown().await.expect("nothing is left");
    let holders = line.state().await.holders;
    assert!(holders.is_empty(), "{holders:?}");
}
