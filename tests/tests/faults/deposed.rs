//! A master that stood still while its replica took over, and goes on.

use std::time::Duration;

use dlock::{RwLock, WriteGuard};
use dlock_tests::{
    ClusterOptions, RedisCluster, ServerOptions, Worker, builder, scaled, sharded_channels,
    slot_of_lock, unique_prefix, wait_until, wait_waiters,
};
use tokio::{sync::mpsc, task::JoinSet, time::timeout};

const SOON: Duration = Duration::from_secs(20);

const LEASE: Duration = Duration::from_secs(30);

/// A client that asks only after the failover.
const LATER: usize = 4;

/// Longer than a waiter's place lasts by itself.
const NODE_TIMEOUT_MS: &str = "4000";

const ROUNDS: usize = 4;

/// A waiter of before must not believe what the old master tells it when it goes on: the release that it had received
/// was sent again to the new master, which has let another client in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_goes_on_after_its_failover_lets_nobody_in() {
    let server = ServerOptions::new().config("cluster-require-full-coverage no");
    let cluster = RedisCluster::start_with(&ClusterOptions::new().server(server)).await;
    if !sharded_channels() {
        // There the waiter keeps its place without listening: it has to end before the failover, or it comes first.
        for number in 0..cluster.len() {
            let setting = ["CONFIG", "SET", "cluster-node-timeout", NODE_TIMEOUT_MS];
            cluster.node(number).query::<()>(&setting).await;
        }
    }
    for _ in 0..ROUNDS {
        round(&cluster).await;
    }
}

/// A failover: a client that asked later holds the lock when the old master goes on.
async fn round(cluster: &RedisCluster) {
    let prefix = unique_prefix();
    let lock = async || lock(cluster, &prefix).await;
    let (holder, other) = (lock().await, lock().await);
    let slot = slot_of_lock(&prefix, "one");
    // A client that has met others sends releases by the script, which wakes waiters.
    let guard = holder.write().await.expect("free");
    let first = tokio::spawn(write(other));
    wait_waiters(&holder, 1).await;
    guard.release().await.expect("held to the end");
    let guard = first.await.expect("no panic");
    guard.release().await.expect("held to the end");

    let guard = holder.write().await.expect("free");
    let arguments = [
        "write".to_owned(),
        format!("url={}", cluster.url()),
        format!("prefix={prefix}"),
        "lock=one".to_owned(),
        format!("lease_ms={}", scaled(LEASE).as_millis()),
    ];
    let waiter = Worker::spawn(env!("CARGO_BIN_EXE_worker"), arguments);
    wait_waiters(&holder, 1).await;
    let mut later = JoinSet::new();
    let (sender, mut entered) = mpsc::unbounded_channel();
    let mut clients = Vec::new();
    for _ in 0..LATER {
        clients.push(lock().await);
    }
    let new = cluster.replicas_of(slot).await[0];
    replicated(cluster, cluster.master_of(slot).await, new).await;
    let old = cluster.pause_master_of(slot).await;
    // Awake, the waiter of before would come first.
    waiter.pause();
    let release = tokio::spawn(guard.release());
    // The old master has to go on while the place of before is alive there.
    let takeover = ["CLUSTER", "FAILOVER", "TAKEOVER"];
    cluster.node(new).query::<redis::Value>(&takeover).await;
    for lock in clients {
        let sender = sender.clone();
        later.spawn(async move { sender.send(write(lock).await).is_ok() });
    }
    drop(sender);
    let guard = timeout(scaled(SOON), entered.recv()).await;
    let guard = guard.expect("in time").expect("one of them gets the lock");
    waiter.resume();
    // The waiter of before has reached the new master, as all others have. Until then it cannot know of it.
    wait_waiters(&holder, LATER).await;
    cluster.node(old).resume();
    // From then on it has carried out the requests that had reached it, and sent its messages.
    wait_until(SOON, "the old master follows the new one", || async {
        let info = cluster.node(old).info("replication").await;
        info.is_ok_and(|info| info.contains("role:slave"))
    })
    .await;
    let has_entered = waiter.output().contains("holding");
    assert!(!has_entered || guard.check().is_err(), "two writers");
    assert!(entered.try_recv().is_err(), "two writers");
    drop(guard);
    waiter.kill();
    later.shutdown().await;
    release.abort();
    cluster.wait_ok().await;
}

/// Waits until a replica has all that its master has: it may just have become one.
async fn replicated(cluster: &RedisCluster, master: usize, replica: usize) {
    let offset = async |node: usize| {
        let info = cluster.node(node).info("replication").await.ok()?;
        let line = |line: &str| line.strip_prefix("master_repl_offset:").map(str::to_owned);
        info.lines().find_map(line)
    };
    wait_until(SOON, "the replica has everything", || async {
        let written = offset(master).await;
        written.is_some() && written == offset(replica).await
    })
    .await;
}

async fn lock(cluster: &RedisCluster, prefix: &str) -> RwLock {
    let builder = builder(&cluster.url(), prefix).lease(scaled(LEASE));
    let client = builder.build().await.expect("the cluster is up");
    client.rw_lock("one").expect("a valid name")
}

async fn write(lock: RwLock) -> WriteGuard {
    lock.write().await.expect("its turn")
}
