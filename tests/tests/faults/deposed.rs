//! A master that stood still while its replica took over, and goes on.

use std::time::Duration;

use dlock::{RwLock, WriteGuard};
use dlock_tests::{
    ClusterOptions, RedisCluster, ServerOptions, builder, scaled, sharded_channels, slot_of_lock,
    unique_prefix, wait_until, wait_waiters,
};
use tokio::{sync::mpsc, task::JoinSet, time::timeout};

const SOON: Duration = Duration::from_secs(20);

/// Who asks only after the failover.
const LATER: usize = 4;

/// Longer than a waiter's place lasts by itself.
const NODE_TIMEOUT_MS: &str = "4000";

/// In how many rounds one of those must have got the lock, and how many rounds there are at most: the one who waited
/// before asks as well.
const ROUNDS: (usize, usize) = (2, 12);

/// A waiter of before must not believe what the old master tells it when it goes on: the release that it had received
/// was sent again to the new master, which has let somebody else in.
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
    let (wanted, most) = ROUNDS;
    let mut told = 0;
    for _ in 0..most {
        told += usize::from(round(&cluster).await);
        if told == wanted {
            return;
        }
    }
    assert!(told > 0, "in {most} rounds the waiter of before came first");
}

/// One failover; whether somebody who asked later held the lock when the old master went on.
async fn round(cluster: &RedisCluster) -> bool {
    let prefix = unique_prefix();
    let lock = async || lock(cluster, &prefix).await;
    let (holder, waiter) = (lock().await, lock().await);
    let slot = slot_of_lock(&prefix, "one");
    // Who has met others sends releases that name those who wait.
    let guard = holder.write().await.expect("free");
    let first = tokio::spawn(write(waiter.clone()));
    wait_waiters(&holder, 1).await;
    guard.release().await.expect("held to the end");
    let guard = first.await.expect("no panic");
    guard.release().await.expect("held to the end");

    let guard = holder.write().await.expect("free");
    let mut waiting = tokio::spawn(write(waiter));
    wait_waiters(&holder, 1).await;
    let mut later = JoinSet::new();
    let (sender, mut entered) = mpsc::unbounded_channel();
    let mut clients = Vec::new();
    for _ in 0..LATER {
        clients.push(lock().await);
    }
    let old = cluster.pause_master_of(slot).await;
    let release = tokio::spawn(guard.release());
    for lock in clients {
        let sender = sender.clone();
        later.spawn(async move { sender.send(write(lock).await).is_ok() });
    }
    drop(sender);
    let somebody = timeout(scaled(SOON), async {
        tokio::select! {
            biased;
            guard = entered.recv() => guard,
            _ = &mut waiting => None,
        }
    });
    let somebody: Option<WriteGuard> = somebody.await.expect("somebody gets the lock");
    if somebody.is_some() {
        // The waiter of before has reached the new master, as all others have. Until then it cannot know of it.
        wait_waiters(&holder, LATER).await;
    }
    cluster.node(old).resume();
    // From then on it has carried out what had reached it, and told whom it would.
    wait_until(SOON, "the old master follows the new one", || async {
        let info = cluster.node(old).info("replication").await;
        info.is_ok_and(|info| info.contains("role:slave"))
    })
    .await;
    if let Some(guard) = &somebody {
        assert!(
            !waiting.is_finished() || guard.check().is_err(),
            "two writers"
        );
        assert!(entered.try_recv().is_err(), "two writers");
    }
    let told = somebody.is_some();
    drop(somebody);
    waiting.abort();
    later.shutdown().await;
    release.abort();
    cluster.wait_ok().await;
    told
}

async fn lock(cluster: &RedisCluster, prefix: &str) -> RwLock {
    let builder = builder(&cluster.url(), prefix).lease(scaled(Duration::from_secs(30)));
    let client = builder.build().await.expect("the cluster is up");
    client.rw_lock("one").expect("a valid name")
}

async fn write(lock: RwLock) -> WriteGuard {
    lock.write().await.expect("its turn")
}
