//! Bad input and bad servers: a typed error that says what to do, in time.

mod access;
mod expect;
mod input;
mod outage;

use std::time::{Duration, Instant};

use dlock::ErrorKind;
use dlock_tests::{
    ClusterOptions, Direction, FaultProxy, RedisCluster, RedisServer, ServerOptions, builder,
    connect, scaled, shared_server, slot_of_lock, unique_prefix, wait_until,
};
use tokio::task::JoinSet;

use self::expect::{RETRY, assert_says, error_of, open};
use self::outage::no_wait_says_that_others_hold;

#[tokio::test]
async fn a_read_only_replica() {
    let master = shared_server().await;
    let replica = RedisServer::start_with(&ServerOptions::new().replica_of(master.port())).await;
    let error = error_of(open(&replica.url())).await;
    assert_says(&error, ErrorKind::Unavailable, &["replica", "master"]);
    // With the master among the seeds it is found.
    let both = format!("{},127.0.0.1:{}", replica.url(), master.port());
    let client = open(&both).await.expect("the master is there");
    let lock = client.rw_lock("one").expect("a good name");
    lock.write()
        .await
        .expect("free")
        .release()
        .await
        .expect("held");
}

#[tokio::test]
async fn a_cluster_that_is_down() {
    let options = ClusterOptions::new().replicas(0);
    let cluster = RedisCluster::start_with(&options).await;
    let prefix = unique_prefix();
    let client = builder(&cluster.url(), &prefix).retry_for(RETRY).build();
    let client = client.await.expect("the cluster is up");
    let dead = slot_of_lock(&prefix, "one");
    let killed = cluster.kill_master_of(dead).await;
    let survivor = cluster.node((killed + 1) % 3);
    wait_until(Duration::from_secs(20), "the cluster is down", || async {
        let info: String = survivor.query(&["CLUSTER", "INFO"]).await;
        info.contains("cluster_state:fail")
    })
    .await;

    // One lock of the dead shard, and several of the shards that refuse. (A waiting acquire would go on: those shards
    // answer.)
    let mut errors = JoinSet::new();
    for name in ["one", "two", "three", "four", "five"] {
        let lock = client.rw_lock(name).expect("a good name");
        errors.spawn(async move { error_of(lock.try_write()).await });
    }
    for error in errors.join_all().await {
        assert!(error.is_unavailable(), "{error:?}");
    }
    // Sooner if the caller has less patience.
    let lock = client.rw_lock("one").expect("a good name");
    let start = Instant::now();
    let error = error_of(lock.write_timeout(Duration::from_millis(200))).await;
    assert!(start.elapsed() < scaled(RETRY / 2), "{:?}", start.elapsed());
    assert!(error.is_unavailable() || error.is_timeout(), "{error:?}");
    let names = ["one", "two", "three", "four", "five"];
    no_wait_says_that_others_hold(&client, &names).await;
    // A client that starts now says so too.
    let error =
        error_of(async { open(&cluster.url()).await?.rw_lock("a")?.try_write().await }).await;
    assert!(error.is_unavailable(), "{error:?}");

    cluster.node(killed).restart().await;
    cluster.wait_ok().await;
    lock.write()
        .await
        .expect("back again")
        .release()
        .await
        .expect("held to the end");
}

/// Tasks of a process that wait together for a server that never answers fail together.
#[tokio::test]
async fn a_server_that_stops_answering_fails_all_who_wait() {
    // With several attempts, which end in trouble with the connection, and with one that ends in silence.
    for response_timeout in [RETRY / 3, RETRY] {
        let proxy = FaultProxy::start(shared_server().await.addr());
        let client = builder(&proxy.url(), &unique_prefix())
            .retry_for(RETRY)
            .response_timeout(response_timeout)
            .build()
            .await
            .expect("the server is up");
        proxy.blackhole(Direction::Both);
        let mut errors = JoinSet::new();
        for _ in 0..5 {
            let lock = client.rw_lock("one").expect("a good name");
            errors.spawn(async move { error_of(lock.try_write()).await });
        }
        for error in errors.join_all().await {
            assert!(error.is_timeout() || error.is_unavailable(), "{error:?}");
        }
    }
}

#[tokio::test]
async fn answers_slower_than_the_lease() {
    let proxy = FaultProxy::start(shared_server().await.addr());
    let client = builder(&proxy.url(), &unique_prefix()).retry_for(RETRY);
    let client = client.build().await.expect("the server is up");
    proxy.delay(Direction::Both, Duration::from_millis(120));
    let lock = client.rw_lock("one").expect("a good name");
    let lock = lock.lease(Duration::from_millis(200));
    for error in [
        error_of(lock.try_write()).await,
        error_of(lock.read()).await,
    ] {
        assert!(error.is_timeout(), "{error:?}");
        assert!(error.to_string().contains("longer lease"), "{error}");
    }
}

#[tokio::test]
async fn a_key_of_another_kind() {
    let server = shared_server().await;
    let prefix = unique_prefix();
    let client = connect(&server.url(), &prefix).await;
    for (name, command) in [
        ("text", ["SET", "key", "value"].as_slice()),
        ("list", &["RPUSH", "key", "value"]),
        ("set", &["SADD", "key", "value"]),
    ] {
        let lock = client.rw_lock(name).expect("a good name");
        let key = lock.key().as_str();
        let command: Vec<&str> = command
            .iter()
            .map(|word| if *word == "key" { key } else { word })
            .collect();
        let _: redis::Value = server.query(&command).await;
        for error in [
            error_of(lock.write()).await,
            error_of(lock.try_read()).await,
            error_of(lock.inspect()).await,
        ] {
            assert_says(&error, ErrorKind::ForeignKey, &[key, "prefix", "delete"]);
        }
        let kept: i64 = server.query(&["EXISTS", key]).await;
        assert_eq!(kept, 1, "it is not ours to delete");
    }
    // A lock that is overwritten while it is held.
    let lock = client.rw_lock("held").expect("a good name");
    let lock = lock.lease(Duration::from_millis(600));
    let guard = lock.write().await.expect("free");
    let key = lock.key().as_str();
    let _: redis::Value = server.query(&["SET", key, "value"]).await;
    tokio::time::timeout(scaled(Duration::from_secs(5)), guard.lost())
        .await
        .expect("it cannot be renewed");
    let error = error_of(guard.release()).await;
    assert!(error.is_lost(), "{error:?}");
}
