//! A server of a quorum that is a cluster, of which one shard is dead.

use std::time::Duration;

use dlock::__internals::lock_key;
use dlock::Client;
use dlock_tests::{
    ClusterOptions, RedisCluster, RedisServer, ServerOptions, connect, unique_prefix, wait_until,
};

/// Nothing of this ends by itself.
const LEASE: Duration = Duration::from_secs(120);

/// A name of a lock that a master of the cluster serves.
async fn name_at(cluster: &RedisCluster, prefix: &str, master: usize) -> String {
    for number in 0..1000 {
        let name = format!("lock-{number}");
        let key = lock_key(prefix, &name).expect("a good name");
        if cluster.master_of(key.slot().as_u16()).await == master {
            return name;
        }
    }
    panic!("a thousand names and none at master {master}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_up_at_a_shard_that_answers_does_not_wait_for_one_that_is_dead() {
    let server = ServerOptions::new().config("cluster-require-full-coverage no");
    let options = ClusterOptions::new().masters(3).replicas(0).server(server);
    let cluster = RedisCluster::start_with(&options).await;
    let others = [RedisServer::start().await, RedisServer::start().await];
    let prefix = unique_prefix();
    let masters = cluster.masters().await;
    let dead = name_at(&cluster, &prefix, masters[0]).await;
    let well = name_at(&cluster, &prefix, masters[1]).await;
    let urls = [cluster.url(), others[0].url(), others[1].url()];
    let builder = Client::builder().quorum(&urls).prefix(&prefix).lease(LEASE);
    let client = builder.build().await.expect("all are there");
    let lock = client.rw_lock(&dead).expect("a good name");
    let guard = lock.write().await.expect("free");
    cluster.node(masters[0]).kill();
    guard.release().await.expect("two of three confirm it");

    let mut held = Vec::new();
    for other in &others {
        let alone = connect(&other.url(), &prefix).await;
        let lock = alone.rw_lock(&well).expect("a good name");
        held.push((lock.write().await.expect("free"), alone));
    }
    let lock = client.rw_lock(&well).expect("a good name");
    assert!(lock.try_write().await.expect("they answer").is_none());
    let alone = connect(&cluster.url(), &prefix).await;
    let lock = alone.rw_lock(&well).expect("a good name");
    wait_until(Duration::from_secs(10), "it is given up", || async {
        lock.inspect().await.expect("it answers").holders.is_empty()
    })
    .await;
}
