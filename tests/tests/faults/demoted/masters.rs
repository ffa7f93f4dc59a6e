//! Several seeds that take themselves for masters, and which of them clients use.

use std::time::Duration;

use dlock::Client;
use dlock_tests::{Direction, FaultProxy, RedisServer, builder, scaled, unique_prefix, wait_until};

const SOON: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(6);

fn url<const N: usize>(servers: [&RedisServer; N]) -> String {
    let addresses = servers.map(|server| server.addr().to_string());
    format!("redis://{}", addresses.join(","))
}

async fn follow(replica: &RedisServer, master: &RedisServer) {
    let port = master.port().to_string();
    let _: () = replica.query(&["REPLICAOF", "127.0.0.1", &port]).await;
    wait_until(SOON, "the replica follows", || async {
        let told = replica.info("replication").await;
        told.is_ok_and(|told| told.contains("master_link_status:up"))
    })
    .await;
}

async fn promote(server: &RedisServer) {
    let _: () = server.query(&["REPLICAOF", "NO", "ONE"]).await;
}

/// Takes the lock and keeps it; whether that worked.
async fn takes(client: &Client) -> bool {
    let lock = client.rw_lock("one").expect("a valid name");
    let taken = lock.write_timeout(scaled(PATIENCE)).await;
    taken.map(std::mem::forget).is_ok()
}

#[tokio::test]
async fn two_that_were_promoted_do_not_part_the_clients_of_the_one_that_was_demoted() {
    let (a, b, c) = (
        RedisServer::start().await,
        RedisServer::start().await,
        RedisServer::start().await,
    );
    follow(&b, &a).await;
    follow(&c, &a).await;
    let prefix = unique_prefix();
    let one = builder(&url([&a, &b, &c]), &prefix).build().await;
    let two = builder(&url([&a, &c, &b]), &prefix).build().await;
    let (one, two) = (one.expect("a master"), two.expect("a master"));
    promote(&b).await;
    promote(&c).await;
    follow(&a, &b).await;
    let (one, two) = tokio::join!(takes(&one), takes(&two));
    assert!(!(one && two), "both hold it");
}

#[tokio::test]
async fn a_second_master_is_seen_at_a_start_however_slow_it_is() {
    let (a, b) = (RedisServer::start().await, RedisServer::start().await);
    let slow = FaultProxy::start(b.addr());
    slow.delay(Direction::ToClient, Duration::from_millis(150));
    let seeds = format!("redis://{},{}", a.addr(), slow.addr());
    let builder = builder(&seeds, &unique_prefix()).connect_timeout(scaled(Duration::from_secs(2)));
    let error = builder.build().await.expect_err("two masters");
    assert!(error.is_invalid(), "{error}");
}

#[tokio::test]
async fn a_client_is_built_although_a_failover_is_under_way() {
    let (a, b) = (RedisServer::start().await, RedisServer::start().await);
    let seeds = url([&a, &b]);
    let builds = tokio::spawn(async move { builder(&seeds, &unique_prefix()).build().await });
    // Not told yet that the other one was promoted.
    wait_until(SOON, "the client looks at both", || async {
        let stats = b.info("commandstats").await;
        stats.is_ok_and(|stats| stats.contains("cmdstat_hello"))
    })
    .await;
    let port = b.port().to_string();
    let _: () = a.query(&["REPLICAOF", "127.0.0.1", &port]).await;
    let built = builds.await.expect("no panic");
    built.expect("one of them is the master");
}

/// Whose connections to it still live would hold locks there, and others elsewhere.
#[tokio::test]
async fn a_server_that_refuses_a_user_is_left_by_nobody() {
    let (a, b) = (RedisServer::start().await, RedisServer::start().await);
    follow(&b, &a).await;
    let seeds = url([&a, &b]).replace("redis://", "redis://u:p@");
    for server in [&a, &b] {
        let allowed = ["on", ">p", "~*", "&*", "+@all"];
        let rule = [&["ACL", "SETUSER", "u"][..], &allowed].concat();
        let _: () = server.query(&rule).await;
    }
    let prefix = unique_prefix();
    let before = builder(&seeds, &prefix).build().await.expect("a master");
    promote(&b).await;
    let _: () = a.query(&["ACL", "SETUSER", "u", "off"]).await;
    let _: i64 = a.query(&["CLIENT", "KILL", "USER", "u"]).await;
    let refused = builder(&seeds, &prefix).build().await;
    let error = refused.expect_err("one refuses the user");
    assert!(error.is_unauthorized(), "{error}");
    let lock = before.rw_lock("one").expect("a valid name");
    let refused = lock.write_timeout(PATIENCE).await;
    let error = refused.expect_err("its server refuses the user");
    assert!(error.is_unauthorized(), "{error}");
}
