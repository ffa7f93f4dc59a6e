//! The servers of a quorum have to be different ones, when a client starts and whenever a connection is made anew.

use std::time::Duration;

use dlock::{Client, ClientBuilder, ErrorKind};
use dlock_tests::{FaultProxy, RedisCluster, RedisServer, unique_prefix, wait_until};

use crate::quorum_servers::Servers;

fn quorum(urls: impl IntoIterator<Item = String>) -> ClientBuilder {
    Client::builder().quorum(urls).prefix(unique_prefix())
}

async fn assert_refused(urls: [String; 3]) {
    let refused = quorum(urls).build().await;
    let error = refused.expect_err("one server counts once");
    assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error}");
    let text = error.to_string();
    assert!(
        text.contains("same server") && text.contains("use `url`"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn three_masters_of_one_cluster_are_no_quorum() {
    let cluster = RedisCluster::start().await;
    let masters = cluster.masters().await;
    assert_refused([0, 1, 2].map(|master| cluster.node(masters[master]).url())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_and_names_of_one_server_are_no_quorum() {
    let servers = Servers::start(2).await;
    let [one, other] = [0, 1].map(|server| servers.servers[server].url());
    assert_refused([0, 1, 2].map(|database| format!("{one}/{database}"))).await;
    let localhost = one.replace("127.0.0.1", "localhost");
    assert_refused([one, other, localhost]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_master_and_its_replica_are_no_quorum() {
    let servers = Servers::start(3).await;
    let port = servers.servers[0].port().to_string();
    let replica = &servers.servers[2];
    let _: String = replica.query(&["REPLICAOF", "127.0.0.1", &port]).await;
    wait_until(Duration::from_secs(20), "it replicates", || async {
        let info = replica.info("replication").await.expect("it answers");
        info.contains("master_link_status:up")
    })
    .await;
    let urls: [String; 3] = servers.urls().try_into().expect("three");
    assert_refused(urls).await;
}

/// With `urls` of which the third leads to the same server as the first, and the second is down, no client may hold a
/// lock.
async fn assert_no_majority(client: &Client, second: &RedisServer) {
    second.kill();
    let lock = client.rw_lock("a").expect("a good name");
    let error = lock.write_timeout(Duration::from_secs(2)).await;
    let error = error.expect_err("one of three");
    assert!(error.is_unavailable(), "{error}");
    wait_until(Duration::from_secs(20), "it says why", || async {
        let error = lock.write_timeout(Duration::from_millis(500)).await;
        let error = error.expect_err("one of three");
        error.to_string().contains("URLs 1 and 3")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_comes_later_and_is_another_one_does_not_count() {
    let servers = Servers::start(2).await;
    let address = FaultProxy::start(servers.servers[0].addr());
    address.refuse();
    let mut urls = servers.urls();
    urls.push(address.url());
    let client = quorum(urls).retry_for(Duration::from_secs(2));
    let client = client.build().await.expect("two of three");
    address.pass();
    assert_no_majority(&client, &servers.servers[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_leads_to_another_server_does_not_count_until_it_leads_back() {
    let servers = Servers::start(3).await;
    let address = FaultProxy::start(servers.servers[2].addr());
    let leads_to = |server: &RedisServer| {
        address.lead_to(server.addr());
        address.cut_all();
    };
    let mut urls = servers.urls();
    urls[2] = address.url();
    let client = quorum(urls).retry_for(Duration::from_secs(2));
    let client = client.build().await.expect("all are there");
    let lock = client.rw_lock("a").expect("a good name");
    let guard = lock.write().await.expect("free");
    guard.release().await.expect("held");
    leads_to(&servers.servers[0]);
    assert_no_majority(&client, &servers.servers[1]).await;
    leads_to(&servers.servers[2]);
    let guard = lock.write_timeout(Duration::from_secs(20)).await;
    guard.expect("two of three").release().await.expect("held");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_may_not_ask_who_a_server_is_is_told_which_right_is_missing() {
    let servers = Servers::start(3).await;
    let rights = ["on", ">secret", "~*", "&*", "+@all", "-info"];
    let mut urls = Vec::new();
    for server in &servers.servers {
        let all = [&["ACL", "SETUSER", "app"], &rights[..]].concat();
        let _: String = server.query(&all).await;
        urls.push(server.url().replace("redis://", "redis://app:secret@"));
    }
    let error = quorum(urls).build().await.expect_err("a right is missing");
    assert!(error.is_unauthorized(), "{error}");
    assert!(error.to_string().contains("+info"), "{error}");
}
