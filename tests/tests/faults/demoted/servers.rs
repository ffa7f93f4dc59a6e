//! Servers outside of a cluster.

use std::time::Duration;

use dlock::Client;
use dlock_tests::{RedisServer, scaled, wait_until};

const SOON: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(8);

/// A master, and a replica that follows it.
pub(crate) async fn pair() -> (RedisServer, RedisServer) {
    let (master, replica) = (RedisServer::start().await, RedisServer::start().await);
    follow(&replica, &master).await;
    (master, replica)
}

/// The seeds that these are.
pub(crate) fn url<const N: usize>(servers: [&RedisServer; N]) -> String {
    let addresses = servers.map(|server| server.addr().to_string());
    format!("redis://{}", addresses.join(","))
}

/// Makes it a replica that has caught up.
pub(crate) async fn follow(replica: &RedisServer, master: &RedisServer) {
    let port = master.port().to_string();
    let _: () = replica.query(&["REPLICAOF", "127.0.0.1", &port]).await;
    wait_until(SOON, "the replica follows", || async {
        let told = replica.info("replication").await;
        told.is_ok_and(|told| told.contains("master_link_status:up"))
    })
    .await;
}

/// Makes it a master.
pub(crate) async fn promote(server: &RedisServer) {
    let _: () = server.query(&["REPLICAOF", "NO", "ONE"]).await;
}

/// Takes the lock and keeps it; whether that worked.
pub(crate) async fn takes(client: &Client) -> bool {
    let lock = client.rw_lock("one").expect("a valid name");
    let taken = lock.write_timeout(scaled(PATIENCE)).await;
    taken.map(std::mem::forget).is_ok()
}
