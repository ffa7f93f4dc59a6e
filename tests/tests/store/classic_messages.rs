//! A cluster whose users may not publish to shards, or that is too old for it: messages go through the whole cluster,
//! and no server can count their receivers. So they grant nothing.

use std::time::{Duration, Instant};

use dlock::{Client, RwLock};
use dlock_tests::{
    ClusterOptions, RedisCluster, SOON, builder, listening, queue, scaled, slot_of_lock,
    unique_prefix, wait_free, wait_until, wait_waiters,
};

const ROUNDS: usize = 12;
/// Far less than a waiter's place lasts, which is what an unrecorded grant costs the next one.
const PROMPT: Duration = Duration::from_millis(400);

/// Makes a user at every node that has to do without sharded channels; returns the cluster's URL for it.
async fn without_shards(cluster: &RedisCluster) -> String {
    for number in 0..cluster.len() {
        let node = cluster.node(number);
        let user = [
            "ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all",
        ];
        node.query::<()>(&user).await;
        for command in ["-spublish", "-ssubscribe"] {
            // Redis 6.2 does not know them, and so refuses.
            let _ = node.command(&["ACL", "SETUSER", "app", command]).await;
        }
    }
    cluster.url().replacen("redis://", "redis://app:secret@", 1)
}

async fn lock(url: &str, prefix: &str, name: &str) -> (Client, RwLock) {
    let builder = builder(url, prefix).lease(scaled(Duration::from_secs(6)));
    let client = builder
        .client_name(name)
        .build()
        .await
        .expect("the cluster is up");
    let lock = client.rw_lock("one").expect("a valid name");
    (client, lock)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grant_nothing_that_is_not_recorded() {
    let options = ClusterOptions::new().masters(2).replicas(0);
    let cluster = RedisCluster::start_with(&options).await;
    let (url, prefix) = (without_shards(&cluster).await, unique_prefix());
    let (_h, holder) = lock(&url, &prefix, "holder").await;
    let (_n, next) = lock(&url, &prefix, "next").await;
    let (_t, third) = lock(&url, &prefix, "third").await;
    let slot = slot_of_lock(&prefix, "one");
    let (mut lost, mut stalls) = (0, Vec::new());
    for _ in 0..ROUNDS {
        let guard = holder.write().await.expect("free");
        let waiting = queue(&next);
        wait_waiters(&holder, 1).await;
        wait_until(SOON, "the waiter listens", || async {
            !listening(cluster.nodes(), "").await.is_empty()
        })
        .await;
        // It goes on listening at the old owner, to what the new one publishes.
        let to = 1 - cluster.master_of(slot).await;
        cluster.migrate_slot(slot, to).await;
        guard.release().await.expect("held to the end");
        let guard = waiting.await.expect("no panic").expect("its turn");
        let held = holder.inspect().await.expect("answered").holders;
        let recorded = held
            .iter()
            .any(|hold| hold.token == Some(guard.fencing_token()));
        let start = Instant::now();
        let released = guard.release().await;
        lost += usize::from(!recorded || released.is_err());
        let guard = third.write_timeout(scaled(SOON)).await.expect("free");
        stalls.push(start.elapsed());
        guard.release().await.expect("held to the end");
        wait_free(&holder).await;
    }
    let stall = stalls.into_iter().max().expect("some rounds");
    println!("{lost} of {ROUNDS} grants unrecorded, longest stall {stall:?}");
    assert_eq!(lost, 0, "of {ROUNDS} grants; longest stall {stall:?}");
    assert!(stall < scaled(PROMPT), "{stall:?}");
}
