//! Bad input and bad servers: a typed error that says what to do, in time.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use dlock::{Client, Error, ErrorKind};
use dlock_tests::{
    ClusterOptions, Direction, FaultProxy, RedisCluster, RedisServer, ServerOptions, builder,
    connect, scaled, shared_cluster, shared_server, slot_of_lock, unique_prefix, wait_until,
};
use tokio::task::JoinSet;

const RETRY: Duration = Duration::from_millis(1500);
const SECRET: &str = "s3cr3t-pw";

/// The error of something that must not take longer than `retry_for` and a little.
async fn error_of<T>(what: impl Future<Output = Result<T, Error>>) -> Error {
    let start = Instant::now();
    let outcome = tokio::time::timeout(scaled(Duration::from_secs(20)), what).await;
    let error = outcome.expect("no hang").err().expect("an error");
    let took = start.elapsed();
    assert!(
        took < RETRY + scaled(Duration::from_secs(1)),
        "{took:?}: {error}"
    );
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(SECRET), "{shown}");
    error
}

fn assert_says(error: &Error, kind: ErrorKind, words: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{error:?}");
    for word in words {
        assert!(text.contains(word), "no {word:?} in {text:?}");
    }
}

async fn open(url: &str) -> Result<Client, Error> {
    let builder = builder(url, &unique_prefix()).retry_for(RETRY);
    builder.build().await
}

#[tokio::test]
async fn keys() {
    let client = connect("memory://", "t").await;
    let long = "x".repeat(513);
    for (name, word) in [
        ("", "empty"),
        ("{}", "hash tag"),
        ("a{}b", "hash tag"),
        ("{open", "hash tag"),
        ("close}", "hash tag"),
        (long.as_str(), "512"),
    ] {
        let error = client.rw_lock(name).expect_err("a bad name");
        assert_says(&error, ErrorKind::InvalidKey, &[word]);
        assert!(error.is_invalid());
    }
    // Anything else is a name, and none of them can be mistaken for another.
    for name in [
        "x".repeat(512).as_str(),
        " ",
        "\0",
        "ö:日本",
        "a b\r\nc",
        "{t}a",
        "*",
    ] {
        let lock = client.rw_lock(name).expect("a good name");
        assert_eq!(lock.key().name(), name);
        let guard = lock.write().await.expect("free");
        guard.release().await.expect("held to the end");
    }
    let cluster = connect(&shared_cluster().await.url(), &unique_prefix()).await;
    for name in [
        "x".repeat(512).as_str(),
        " ",
        "\0",
        "ö:日本",
        "a b\r\nc",
        "{t}a",
        "*",
        "%s%d",
    ] {
        let lock = cluster.rw_lock(name).expect("a good name");
        let guard = lock.write().await.expect("free");
        assert!(lock.try_read().await.expect("answered").is_none());
        guard.release().await.expect("held to the end");
    }
}

#[tokio::test]
async fn settings() {
    let lock = connect("memory://", "t").await;
    let lock = lock.rw_lock("one").expect("a good name");
    let ms = Duration::from_millis;
    for lease in [
        Duration::ZERO,
        ms(1),
        ms(199),
        ms(86_400_001),
        Duration::MAX,
    ] {
        let error = error_of(lock.clone().lease(lease).write()).await;
        assert_says(&error, ErrorKind::InvalidConfig, &["lease", "between"]);
        let error = error_of(builder("memory://", "t").lease(lease).build()).await;
        assert_says(&error, ErrorKind::InvalidConfig, &["lease", "between"]);
    }
    let error = error_of(lock.clone().lease(ms(500)).max_hold(ms(499)).try_read()).await;
    assert_says(&error, ErrorKind::InvalidConfig, &["max_hold", "raise"]);
    for prefix in ["", "a{b", "a}", "a~b"] {
        let error = error_of(builder("memory://", prefix).build()).await;
        assert_says(&error, ErrorKind::InvalidConfig, &["prefix"]);
    }
    for timeout in [Duration::ZERO, Duration::MAX] {
        let plain = || builder("memory://", "t");
        for builder in [
            plain().retry_for(timeout),
            plain().connect_timeout(timeout),
            plain().response_timeout(timeout),
        ] {
            let error = error_of(builder.build()).await;
            assert_says(&error, ErrorKind::InvalidConfig, &["choose"]);
        }
    }
    // No patience at all, and more than there is time.
    for patience in [Duration::ZERO, Duration::MAX] {
        match lock.write_timeout(patience).await {
            Ok(guard) => guard.release().await.expect("held to the end"),
            Err(error) => assert!(error.is_timeout(), "{error}"),
        }
    }
    let held = lock.write().await.expect("free");
    let error = error_of(lock.write_timeout(ms(50))).await;
    assert!(error.is_timeout());
    assert!(error.to_string().contains("inspect"), "{error}");
    drop(held);
}

#[tokio::test]
async fn urls() {
    for url in [
        "",
        "localhost",
        "http://localhost",
        "redis://",
        "redis://:x@",
        "redis://host:port",
        "redis://host:99999",
        "redis://host/database",
        "redis-sentinel://host",
        "unix:///tmp/socket",
    ] {
        let error = error_of(open(url)).await;
        assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{url}: {error:?}");
    }
    let with_secret = format!("http://app:{SECRET}@localhost");
    let error = error_of(open(&with_secret)).await;
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    let with_secret = format!("redis://app:{SECRET}@host:port");
    error_of(open(&with_secret)).await;
}

#[tokio::test]
async fn seeds_that_do_not_answer() {
    // A port that was free a moment ago, and one that accepts and never answers.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let silent = FaultProxy::start(shared_server().await.addr());
    silent.blackhole(Direction::Both);
    for url in [
        format!("redis://:{SECRET}@127.0.0.1:{port}"),
        format!("redis://:{SECRET}@127.0.0.1:{}", silent.addr().port()),
        format!(
            "redis://127.0.0.1:{port},127.0.0.1:{}",
            silent.addr().port()
        ),
        format!("redis://:{SECRET}@no-such-host.invalid:6379"),
    ] {
        let error = error_of(open(&url)).await;
        assert!(error.is_unavailable(), "{error:?}");
        assert!(error.to_string().contains("check that"), "{error}");
    }
    // One that answers is enough.
    let mixed = format!(
        "redis://127.0.0.1:{port},127.0.0.1:{}",
        shared_server().await.port()
    );
    open(&mixed).await.expect("the second seed answers");
}

#[tokio::test]
async fn passwords_and_rights() {
    let rules = format!("on >{SECRET}");
    let all = "+@all -@dangerous";
    let server = RedisServer::start_with(
        &ServerOptions::new()
            .password(SECRET)
            .user("no-scripts", &format!("{rules} ~* &* +@all -@scripting"))
            .user("no-keys", &format!("{rules} ~other:* &* +@all"))
            .user("no-writes", &format!("{rules} ~* &* +@all -hset"))
            .user("no-channels", &format!("{rules} ~* resetchannels {all}"))
            .user("as-told", &format!("{rules} ~t* &t* +@read +@write +@scripting +@pubsub +@connection +time +cluster|slots")),
    )
    .await;
    let at = format!("127.0.0.1:{}", server.port());
    for login in ["", ":wrong@", "app:wrong@", "no-scripts:wrong@"] {
        let error = error_of(open(&format!("redis://{login}{at}"))).await;
        assert_says(&error, ErrorKind::Unauthorized, &["password"]);
    }
    for user in ["no-scripts", "no-keys"] {
        let error = error_of(open(&format!("redis://{user}:{SECRET}@{at}"))).await;
        assert_says(
            &error,
            ErrorKind::Unauthorized,
            &["grant", user, "ACL SETUSER"],
        );
    }
    // A right that only shows when it is needed.
    let client = open(&format!("redis://no-writes:{SECRET}@{at}")).await;
    let lock = client
        .expect("reads work")
        .rw_lock("one")
        .expect("a good name");
    let error = error_of(lock.write()).await;
    assert_says(
        &error,
        ErrorKind::Unauthorized,
        &["grant", "no-writes", "ACL SETUSER"],
    );

    // What the advice grants is enough, and without channels waiters poll.
    for user in ["as-told", "no-channels"] {
        let url = format!("redis://{user}:{SECRET}@{at}");
        let client = open(&url).await.expect(user);
        let lock = client.rw_lock("one").expect("a good name");
        let other = connect(
            &url,
            lock.key().as_str().split(':').next().expect("a prefix"),
        )
        .await;
        let other = other.rw_lock("one").expect("a good name");
        let guard = lock.write().await.expect("free");
        let (released, next) = tokio::join!(
            async {
                tokio::time::sleep(Duration::from_millis(30)).await;
                guard.release().await
            },
            other.write_timeout(scaled(Duration::from_secs(5))),
        );
        released.expect("held to the end");
        next.expect("its turn")
            .release()
            .await
            .expect("held to the end");
    }

    // The password shows up nowhere.
    let url = format!("redis://:{SECRET}@{at}");
    let builder = Client::builder().url(&url);
    assert!(!format!("{builder:?}").contains(SECRET), "{builder:?}");
    let client = builder.build().await.expect("the right password");
    assert!(!format!("{client:?}").contains(SECRET), "{client:?}");
    let lock = client.rw_lock("one").expect("a good name");
    assert!(!format!("{lock:?}").contains(SECRET), "{lock:?}");
}

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

    // One on the dead shard, and several on those that refuse.
    let mut errors = JoinSet::new();
    for name in ["one", "two", "three", "four", "five"] {
        let lock = client.rw_lock(name).expect("a good name");
        errors.spawn(async move { error_of(lock.write()).await });
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
    // A client that starts now says so too.
    let error = error_of(async { open(&cluster.url()).await?.rw_lock("a")?.write().await }).await;
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
            errors.spawn(async move { error_of(lock.write()).await });
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
