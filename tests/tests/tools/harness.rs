//! The harness itself does what the other tests rely on.

use std::time::Duration;

use dlock_tests::{
    RedisCluster, RedisServer, ServerOptions, Worker, shared_cluster, slot_of, unique_prefix,
    wait_until,
};

#[test]
fn slots_are_those_of_redis() {
    assert_eq!(slot_of("123456789"), 12739);
    assert_eq!(slot_of("foo{123456789}bar"), 12739);
    assert_eq!(
        slot_of("{user1000}.following"),
        slot_of("{user1000}.followers")
    );
    assert_eq!(slot_of("foo{}{bar}"), 8363);
}

#[tokio::test]
async fn a_server_pauses_dies_and_comes_back() {
    let server = RedisServer::start_with(
        &ServerOptions::new()
            .password("secret")
            .user("app", "on >pw ~app:* +@all"),
    )
    .await;
    let users: Vec<String> = server.query(&["ACL", "USERS"]).await;
    assert_eq!(users, ["app", "default"]);
    assert!(server.url().contains(":secret@"));

    server.pause();
    assert!(server.command(&["PING"]).await.is_err());
    server.resume();
    let _: () = server.query(&["SET", "a", "1"]).await;

    server.kill();
    assert!(server.command(&["PING"]).await.is_err());
    server.restart().await;
    let gone: Option<String> = server.query(&["GET", "a"]).await;
    assert_eq!(gone, None);
}

#[tokio::test]
async fn a_replica_follows() {
    let master = RedisServer::start().await;
    let replica = RedisServer::start_with(&ServerOptions::new().replica_of(master.port())).await;
    wait_until(
        Duration::from_secs(10),
        "the replica is in sync",
        || async {
            let info = replica.info("replication").await;
            info.is_ok_and(|info| info.contains("master_link_status:up"))
        },
    )
    .await;
    let refused = replica.command(&["SET", "a", "1"]).await;
    assert_eq!(
        refused.expect_err("a replica is read-only").code(),
        Some("READONLY")
    );
}

#[tokio::test]
async fn keys_and_statistics_of_a_cluster() {
    let cluster = shared_cluster().await;
    let prefix = unique_prefix();
    let before = cluster.command_stats().await;
    for number in 0..10 {
        let key = format!("{prefix}:{number}");
        let _: () = cluster.query(&key, &["SET", &key, "1"]).await;
    }
    assert_eq!(cluster.keys(&format!("{prefix}:*")).await.len(), 10);
    let stats = cluster.command_stats().await.since(&before);
    assert!(stats.calls("set") >= 10, "{stats:?}");
    cluster.script_flush_all().await;
    cluster.client_kill_all("pubsub").await;
    assert_eq!(cluster.masters().await.len(), 3);
    assert_eq!(cluster.seeds().len(), 6);
}

#[tokio::test]
async fn a_slot_moves_step_by_step() {
    let cluster = RedisCluster::start().await;
    let (one, two) = ("{tag}:1", "{tag}:2");
    let slot = slot_of(one);
    for key in [one, two] {
        let _: () = cluster.query(key, &["SET", key, "1"]).await;
    }
    let from = cluster.master_of(slot).await;
    let to = (from + 1) % 3;

    let migration = cluster.begin_migration(slot, to).await;
    migration.move_keys(&[one]).await;
    let asked = cluster.node(from).command(&["GET", one]).await;
    assert_eq!(asked.expect_err("the key has moved").code(), Some("ASK"));
    let still: String = cluster.node(from).query(&["GET", two]).await;
    assert_eq!(still, "1");
    migration.cancel().await;
    let back: String = cluster.node(from).query(&["GET", one]).await;
    assert_eq!(back, "1");

    cluster.migrate_slot(slot, to).await;
    assert_eq!(cluster.master_of(slot).await, to);
    let moved = cluster.node(from).command(&["GET", one]).await;
    assert_eq!(moved.expect_err("the slot has moved").code(), Some("MOVED"));
    let there: String = cluster.query(one, &["GET", one]).await;
    assert_eq!(there, "1");
}

#[tokio::test]
async fn a_cluster_survives_its_masters() {
    let cluster = RedisCluster::start().await;
    let slot = slot_of("a");

    let old = cluster.master_of(slot).await;
    let new = cluster.failover(slot).await;
    assert_ne!(old, new);
    assert_eq!(cluster.replicas_of(slot).await, [old]);

    let killed = cluster.kill_master_of(slot).await;
    assert_eq!(killed, new);
    assert_eq!(cluster.wait_failover(slot, killed).await, old);

    cluster.node(killed).restart().await;
    cluster.wait_ok().await;
    let paused = cluster.pause_master_of(slot).await;
    assert_eq!(cluster.wait_failover(slot, paused).await, killed);
    cluster.node(paused).resume();
    cluster.wait_ok().await;
}

#[tokio::test]
async fn a_worker_is_frozen_and_killed() {
    let worker = Worker::spawn("sh", ["-c", "echo one; exit 3"]);
    assert_eq!(worker.wait(Duration::from_secs(10)).await.code(), Some(3));
    assert_eq!(worker.output(), "one\n");

    let worker = Worker::spawn("sleep", ["600"]);
    worker.pause();
    worker.resume();
    worker.kill();
    assert_eq!(worker.wait(Duration::from_secs(10)).await.code(), None);
}

#[tokio::test]
#[should_panic(expected = "no-such-directive 1")]
async fn a_wrong_configuration_is_reported() {
    RedisServer::start_with(&ServerOptions::new().config("no-such-directive 1")).await;
}
