//! The proxy does to a connection what the fault tests expect of it.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use dlock_tests::{
    ClusterOptions, Direction, FaultProxy, ProxiedCluster, RedisServer, shared_server, slot_of,
    unique_prefix, wait_until,
};
use redis::{AsyncConnectionConfig, Client, RedisResult, aio::MultiplexedConnection};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

const SHORT: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(10);

async fn connect(url: &str) -> MultiplexedConnection {
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(LONG));
    let client = Client::open(url).expect("the proxy's URL is valid");
    client
        .get_multiplexed_async_connection_with_config(&config)
        .await
        .expect("the proxy lets through")
}

async fn count(connection: &mut MultiplexedConnection, key: &str) -> RedisResult<i64> {
    redis::cmd("INCR").arg(key).query_async(connection).await
}

async fn counted(server: &RedisServer, key: &str) -> Option<i64> {
    server.query(&["GET", key]).await
}

#[tokio::test]
async fn a_lost_reply_was_executed_and_a_lost_request_was_not() {
    let server = shared_server().await;
    let proxy = FaultProxy::start(server.addr());
    let key = unique_prefix();

    proxy.cut_after_request(&key, 2);
    for calls in 1..=2 {
        let mut connection = connect(&proxy.url()).await;
        let lost = count(&mut connection, &key).await;
        assert!(lost.expect_err("the reply is lost").is_connection_dropped());
        assert_eq!(counted(server, &key).await, Some(calls));
    }
    proxy.cut_before_request("INCR", 1);
    let mut connection = connect(&proxy.url()).await;
    assert!(count(&mut connection, &key).await.is_err());
    assert_eq!(counted(server, &key).await, Some(2));

    let mut connection = connect(&proxy.url()).await;
    assert_eq!(count(&mut connection, &key).await, Ok(3));
    assert_eq!(proxy.counters().cuts, 3);
    assert_eq!(proxy.counters().accepted, 4);
}

#[tokio::test]
async fn a_blackhole_holds_back_and_delivers_later() {
    let server = shared_server().await;
    let proxy = FaultProxy::start(server.addr());
    let key = unique_prefix();
    let mut connection = connect(&proxy.url()).await;

    // The first request is executed and its reply held, the second is held itself.
    for (direction, reply) in [(Direction::ToClient, 1), (Direction::ToServer, 2)] {
        proxy.blackhole(direction);
        let mut request = std::pin::pin!(count(&mut connection, &key));
        assert!(timeout(SHORT, &mut request).await.is_err());
        assert_eq!(counted(server, &key).await, Some(1));
        proxy.pass();
        assert_eq!(request.await, Ok(reply));
    }

    let start = Instant::now();
    proxy.delay(Direction::Both, SHORT);
    assert_eq!(count(&mut connection, &key).await, Ok(3));
    assert!(start.elapsed() >= 2 * SHORT);
}

#[tokio::test]
async fn connections_are_cut_and_refused() {
    let server = shared_server().await;
    let proxy = FaultProxy::start(server.addr());
    let key = unique_prefix();

    let mut connection = connect(&proxy.url()).await;
    proxy.cut_all();
    wait_until(LONG, "the connection is closed", || async {
        proxy.counters().open == 0
    })
    .await;
    assert!(count(&mut connection, &key).await.is_err());
    let mut connection = connect(&proxy.url()).await;
    assert_eq!(count(&mut connection, &key).await, Ok(1));

    proxy.refuse();
    let client = Client::open(proxy.url()).expect("the proxy's URL is valid");
    assert!(client.get_multiplexed_async_connection().await.is_err());
    proxy.pass();
    let mut connection = connect(&proxy.url()).await;
    assert_eq!(count(&mut connection, &key).await, Ok(2));
}

#[tokio::test]
async fn a_request_that_is_kept_arrives_when_it_is_told_to() {
    let server = shared_server().await;
    let proxy = FaultProxy::start(server.addr());
    let key = unique_prefix();
    let mut connection = connect(&proxy.url()).await;
    assert_eq!(count(&mut connection, &key).await, Ok(1));

    proxy.keep_request(&key, 2);
    let lost = count(&mut connection, &key).await;
    assert!(lost.expect_err("cut for the client").is_io_error());
    let mut connection = connect(&proxy.url()).await;
    assert!(count(&mut connection, &key).await.is_err());
    let mut connection = connect(&proxy.url()).await;
    assert_eq!(count(&mut connection, &key).await, Ok(2));
    assert_eq!(proxy.counters().kept, 2);
    // Long after the client has gone on.
    let answers = proxy.deliver_kept().await;
    assert!(answers[0].starts_with(":3\r\n"), "{answers:?}");
    assert!(answers[1].starts_with(":4\r\n"), "{answers:?}");
    assert_eq!(counted(server, &key).await, Some(4));
    assert!(proxy.deliver_kept().await.is_empty());
}

#[tokio::test]
async fn a_request_that_is_muted_leaves_a_silent_connection() {
    let server = shared_server().await;
    let proxy = FaultProxy::start(server.addr());
    let key = unique_prefix();
    let mut connection = connect(&proxy.url()).await;
    let mut other = connect(&proxy.url()).await;
    proxy.mute_request(&key, 1);
    assert!(
        timeout(SHORT, count(&mut connection, &key)).await.is_err(),
        "no answer and no end"
    );
    assert_eq!(count(&mut other, &key).await, Ok(1), "only one request");
    let ping = redis::cmd("PING");
    let ping = ping.query_async::<()>(&mut connection);
    assert!(timeout(SHORT, ping).await.is_err(), "it stays silent");
    proxy.pass();
    assert_eq!(counted(server, &key).await, Some(1));
}

async fn send(stream: &mut TcpStream, words: &[&str]) {
    let mut request = format!("*{}\r\n", words.len());
    for word in words {
        write!(request, "${}\r\n{word}\r\n", word.len()).expect("a String takes everything");
    }
    let sent = stream.write_all(request.as_bytes()).await;
    sent.expect("the proxy listens");
}

/// Reads until `end` has come, and returns everything up to there.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.contains(end) {
        let mut bytes = [0; 512];
        let len = timeout(LONG, stream.read(&mut bytes)).await;
        let len = len.expect("in time").expect("a readable connection");
        assert_ne!(len, 0, "closed after {text:?}");
        text += std::str::from_utf8(&bytes[..len]).expect("text");
    }
    text
}

#[tokio::test]
async fn messages_are_swallowed_in_both_protocols() {
    let server = shared_server().await;
    for (protocol, push) in [("2", '*'), ("3", '>')] {
        let proxy = FaultProxy::start(server.addr());
        let channel = unique_prefix();
        let mut subscriber = TcpStream::connect(proxy.addr()).await.expect("a proxy");
        send(&mut subscriber, &["HELLO", protocol]).await;
        read_until(&mut subscriber, "modules").await;

        proxy.drop_pushes(true);
        send(&mut subscriber, &["SUBSCRIBE", &channel]).await;
        let confirmation = read_until(&mut subscriber, ":1\r\n").await;
        assert!(
            confirmation.contains(&format!("{push}3\r\n$9\r\nsubscribe")),
            "{confirmation:?}"
        );
        let receivers: i64 = server.query(&["PUBLISH", &channel, "one"]).await;
        assert_eq!(receivers, 1);
        wait_until(LONG, "the message is swallowed", || async {
            proxy.counters().dropped_pushes == 1
        })
        .await;

        proxy.drop_pushes(false);
        let _: i64 = server.query(&["PUBLISH", &channel, "two"]).await;
        let message = read_until(&mut subscriber, "two").await;
        assert!(
            message.starts_with(&format!("{push}3\r\n$7\r\nmessage")),
            "{message:?}"
        );
        let counters = proxy.counters();
        assert_eq!((counters.replies, counters.pushes), (2, 1));
    }
}

#[tokio::test]
async fn a_lost_subscription_is_one_request() {
    let server = shared_server().await;
    let proxy = FaultProxy::start(server.addr());
    let mut connection = connect(&format!("{}?protocol=resp3", proxy.url())).await;
    proxy.cut_after_request("SSUBSCRIBE", 1);
    let lost: RedisResult<()> = redis::cmd("SSUBSCRIBE")
        .arg("c")
        .query_async(&mut connection)
        .await;
    assert!(lost.is_err());
    assert_eq!(proxy.counters().cuts, 1);
}

#[tokio::test]
async fn a_cluster_sends_its_clients_to_the_proxies() {
    let options = ClusterOptions::new();
    let proxied = ProxiedCluster::start_with(&options).await;
    let key = "a";
    let owner = proxied.cluster().master_of(slot_of(key)).await;
    let other = (owner + 1) % 3;

    let mut connection = connect(&proxied.proxy(other).url()).await;
    let moved = count(&mut connection, key)
        .await
        .expect_err("another's slot");
    let proxy = proxied.proxy_of(slot_of(key)).await;
    let expected = format!("127.0.0.1:{}", proxy.addr().port());
    assert_eq!(
        moved.redirect_node().map(|(addr, _)| addr),
        Some(expected.as_str())
    );
    assert!(proxied.url().contains(&expected));

    // Replication goes on while clients see nothing of the cluster.
    for proxy in proxied.proxies() {
        proxy.blackhole(Direction::Both);
        proxy.cut_all();
    }
    let _: i64 = proxied.cluster().query(key, &["INCR", key]).await;
    let replicas = proxied.cluster().replicas_of(slot_of(key)).await;
    wait_until(LONG, "the replica has the key", || async {
        proxied
            .cluster()
            .node(replicas[0])
            .query::<i64>(&["DBSIZE"])
            .await
            == 1
    })
    .await;
}
