//! Masters that die under load.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use dlock::{Client, ErrorKind, LossReason};
use dlock_tests::{
    ClusterOptions, Direction, ProxiedCluster, RedisCluster, ServerOptions, builder, names_on,
    queue, scaled, slot_of_lock, unique_prefix, wait_until,
};
use tokio::task::JoinSet;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(20);

/// Writes again and again on one lock, and notes the tokens it gets.
#[derive(Default)]
struct Writers {
    stop: AtomicBool,
    writes: AtomicU64,
    lost: AtomicU64,
    tokens: Mutex<Vec<u64>>,
}

impl Writers {
    fn start(self: &Arc<Self>, tasks: &mut JoinSet<()>, client: &Client, name: &str) {
        let lock = client.rw_lock(name).expect("a valid name");
        let this = Arc::clone(self);
        tasks.spawn(async move {
            let mut last = 0;
            while !this.stop.load(Ordering::Relaxed) {
                let guard = lock.write().await;
                let guard = guard.expect("a failover is over before retry_for is");
                let token = guard.fencing_token().as_u64();
                assert!(token > last, "{token} after {last}");
                last = token;
                this.tokens.lock().expect("no panic").push(token);
                tokio::time::sleep(Duration::from_millis(1)).await;
                match guard.release().await {
                    Ok(()) => {}
                    Err(error) if error.is_lost() => {
                        this.lost.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) => panic!("{error:?}"),
                }
                this.writes.fetch_add(1, Ordering::Relaxed);
            }
        });
    }

    fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }
}

/// Kills the master of one shard under load on all shards. `lease` is that of all holds.
async fn kill_a_master(full_coverage: &str, lease: Duration) {
    let server =
        ServerOptions::new().config(&format!("cluster-require-full-coverage {full_coverage}"));
    let cluster = RedisCluster::start_with(&ClusterOptions::new().server(server)).await;
    let prefix = unique_prefix();
    let names = names_on(&cluster, &prefix, [0, 1, 2, 1, 2]).await;
    let [victim, others @ .., held_1, held_2] = &names;
    let build = async || {
        let builder = builder(&cluster.url(), &prefix).lease(lease);
        builder.build().await.expect("the cluster is up")
    };
    let clients = [build().await, build().await];
    let mut held = Vec::new();
    for name in [held_1, held_2] {
        let lock = clients[0].rw_lock(name).expect("a valid name");
        held.push(lock.write().await.expect("free"));
    }
    let mut tasks = JoinSet::new();
    let dying = Arc::new(Writers::default());
    let living = Arc::new(Writers::default());
    for client in &clients {
        for _ in 0..2 {
            dying.start(&mut tasks, client, victim);
        }
        for name in others {
            living.start(&mut tasks, client, name);
        }
    }
    let both_write = async |more: u64| {
        let before = (dying.writes(), living.writes());
        wait_until(SOON, "writes go on everywhere", || async {
            dying.writes() >= before.0 + more && living.writes() >= before.1 + more
        })
        .await;
    };
    both_write(50).await;

    let slot = slot_of_lock(&prefix, victim);
    let killed = cluster.kill_master_of(slot).await;
    assert_eq!(killed, 0);
    cluster.wait_failover(slot, killed).await;
    both_write(50).await;

    for writers in [&dying, &living] {
        writers.stop.store(true, Ordering::Relaxed);
    }
    tasks.join_all().await;
    assert_eq!(
        living.lost.load(Ordering::Relaxed),
        0,
        "lost on other shards"
    );
    for guard in held {
        guard.check().expect("renewed by its own master");
        guard.release().await.expect("held to the end");
    }
    let mut tokens = dying.tokens.lock().expect("no panic").clone();
    let count = tokens.len();
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!(tokens.len(), count, "a token was given twice");
    println!(
        "{count} writes on the shard that failed over, {} lost",
        dying.lost.load(Ordering::Relaxed)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn other_shards_do_not_notice() {
    // Shorter than the failover, which takes more than the node timeout of one second.
    kill_a_master("no", Duration::from_millis(900)).await;
}

/// With `cluster-require-full-coverage yes`, Redis's default, all shards refuse while one has no master: leases have to
/// outlast a failover.
#[tokio::test(flavor = "multi_thread")]
async fn leases_outlast_a_failover_under_full_coverage() {
    kill_a_master("yes", Duration::from_secs(15)).await;
}

/// The master takes a connection and says nothing, so the client does not learn of the failover from the connection.
#[tokio::test]
async fn a_holder_that_does_nothing_else_follows_when_its_master_hangs() {
    let cluster = RedisCluster::start().await;
    let prefix = unique_prefix();
    let lease = scaled(Duration::from_secs(6));
    let client = builder(&cluster.url(), &prefix)
        .lease(lease)
        .response_timeout(Duration::from_millis(300))
        .connect_timeout(lease * 2)
        .build()
        .await;
    let client = client.expect("the cluster is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let guard = lock.write().await.expect("free");
    let slot = slot_of_lock(&prefix, "one");
    let hung = cluster.pause_master_of(slot).await;
    let next = cluster.wait_failover(slot, hung).await;
    wait_until(lease, "the hold is renewed at the new master", || async {
        cluster.node(next).command_stats().await.scripts() > 0
    })
    .await;
    guard.check().expect("renewed in time");
}

#[tokio::test]
async fn tokens_grow_although_the_last_grants_were_not_replicated() {
    let cluster = RedisCluster::start().await;
    let prefix = unique_prefix();
    let builder = builder(&cluster.url(), &prefix).lease(Duration::from_secs(10));
    let client = builder.build().await.expect("the cluster is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let slot = slot_of_lock(&prefix, "one");
    let key = format!("{prefix}:{{one}}");
    let old = cluster.master_of(slot).await;
    let master = cluster.node(old);
    let replica = cluster.node(cluster.replicas_of(slot).await[0]);

    let guard = lock.write().await.expect("free");
    let replicated = guard.fencing_token().as_u64();
    guard.release().await.expect("held to the end");

    // Frozen and disconnected: nothing of what follows waits for it in a socket either.
    replica.pause();
    let _: i64 = master.query(&["CLIENT", "KILL", "TYPE", "replica"]).await;
    let mut last = replicated;
    for _ in 0..20 {
        let guard = lock.write().await.expect("free");
        assert!(guard.fencing_token().as_u64() > last);
        last = guard.fencing_token().as_u64();
        guard.release().await.expect("held to the end");
    }
    let forgotten = lock.write().await.expect("free");
    last = forgotten.fencing_token().as_u64();
    master.kill();
    replica.resume();
    cluster.wait_failover(slot, old).await;
    let known: Option<u64> = cluster.query(&key, &["HGET", &key, "t"]).await;
    assert!(known <= Some(replicated), "{known:?} was replicated");

    let guard = lock
        .clone()
        .owner("another")
        .write_timeout(scaled(SOON))
        .await;
    let guard = guard.expect("the new master knows of no holder");
    let token = guard.fencing_token().as_u64();
    assert!(token > last, "{token} after {last}");
    // The forgotten holder learns it by its next renewal, long before its lease ends.
    tokio::time::timeout(scaled(Duration::from_secs(8)), forgotten.lost())
        .await
        .expect("the renewal says so");
    let error = forgotten.release().await.expect_err("it was lost");
    assert_eq!(error.kind(), ErrorKind::Lost(LossReason::Removed));
    guard.release().await.expect("held to the end");
}

/// The login may take three response timeouts: no caller waits for them once another has the slots.
#[tokio::test]
async fn a_master_that_hangs_at_the_login_is_left_when_its_replica_takes_over() {
    let proxied = ProxiedCluster::start().await;
    let (cluster, prefix) = (proxied.cluster(), unique_prefix());
    let slot = slot_of_lock(&prefix, "one");
    let (master, replica) = (
        cluster.master_of(slot).await,
        cluster.replicas_of(slot).await[0],
    );
    let long = scaled(SOON) * 2;
    let built = builder(&proxied.url(), &prefix)
        .response_timeout(long)
        .retry_for(long)
        .build();
    let lock = built.await.expect("the cluster is up").rw_lock("one");
    let lock = lock.expect("a valid name");
    lock.write()
        .await
        .expect("free")
        .release()
        .await
        .expect("held to the end");
    let proxy = proxied.proxy(master);
    let before = proxy.counters().accepted;
    proxy.blackhole(Direction::ToClient);
    proxy.cut_all();
    let hanging = queue(&lock);
    wait_until(SOON, "it connects", || async {
        proxy.counters().accepted > before
    })
    .await;
    cluster
        .node(replica)
        .query::<redis::Value>(&["CLUSTER", "FAILOVER", "TAKEOVER"])
        .await;
    let guard = timeout(scaled(SOON), hanging).await;
    let guard = guard.expect("it has left").expect("no panic");
    let released = guard.expect("free at the new master").release().await;
    released.expect("held to the end");
}
