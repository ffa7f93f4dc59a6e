//! The servers of a quorum have to be different ones, when a client starts and whenever a connection is made anew.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dlock::{Client, ClientBuilder, ErrorKind};
use dlock_tests::{RedisCluster, RedisServer, unique_prefix, wait_until};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use crate::quorum_servers::Servers;

/// An address that leads to a server, and later perhaps to another one.
struct Relay {
    addr: SocketAddr,
    target: Arc<Mutex<Option<SocketAddr>>>,
    cut: tokio::sync::watch::Sender<u32>,
    task: AbortHandle,
}

impl Relay {
    async fn start(target: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let addr = listener.local_addr().expect("bound");
        let target = Arc::new(Mutex::new(target));
        let (cut, heard) = tokio::sync::watch::channel(0);
        let leads_to = Arc::clone(&target);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (mut client, _) = listener.accept().await.expect("file descriptors");
                let Some(target) = *leads_to.lock().expect("no panic") else {
                    continue;
                };
                let mut cut = heard.clone();
                cut.mark_unchanged();
                connections.spawn(async move {
                    let Ok(mut server) = TcpStream::connect(target).await else {
                        return;
                    };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        Self {
            addr,
            target,
            cut,
            task: task.abort_handle(),
        }
    }

    fn url(&self) -> String {
        format!("redis://{}", self.addr)
    }

    /// All connections end, and the next ones lead to another server.
    fn lead_to(&self, target: SocketAddr) {
        *self.target.lock().expect("no panic") = Some(target);
        self.cut.send_modify(|times| *times += 1);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

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
    let relay = Relay::start(None).await;
    let mut urls = servers.urls();
    urls.push(relay.url());
    let client = quorum(urls).retry_for(Duration::from_secs(2));
    let client = client.build().await.expect("two of three");
    relay.lead_to(servers.servers[0].addr());
    assert_no_majority(&client, &servers.servers[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_leads_to_another_server_does_not_count_until_it_leads_back() {
    let servers = Servers::start(3).await;
    let relay = Relay::start(Some(servers.servers[2].addr())).await;
    let mut urls = servers.urls();
    urls[2] = relay.url();
    let client = quorum(urls).retry_for(Duration::from_secs(2));
    let client = client.build().await.expect("all are there");
    let lock = client.rw_lock("a").expect("a good name");
    let guard = lock.write().await.expect("free");
    guard.release().await.expect("held");
    relay.lead_to(servers.servers[0].addr());
    assert_no_majority(&client, &servers.servers[1]).await;
    relay.lead_to(servers.servers[2].addr());
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
