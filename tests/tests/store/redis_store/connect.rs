//! Finding out what the seeds are, and saying what is wrong with them.

use std::time::Duration;

use dlock::__internals::{ClientId, Op, RedisOptions, RedisStore, Reply};
use dlock::{Error, ErrorKind};
use dlock_tests::{
    ClusterOptions, RedisCluster, RedisServer, ServerOptions, sharded_channels, shared_cluster,
    shared_server, wait_until,
};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::redis_store::rig::{Rig, options, within, write};

/// The error of connecting, which must come in time.
async fn refused(options: RedisOptions, millis: u64) -> Error {
    let started = Instant::now();
    let client = ClientId::new("test");
    let connecting = RedisStore::connect(options, &client, within(millis));
    let error = connecting.await.expect_err("this cannot work");
    let limit = Duration::from_millis(millis + 500);
    assert!(
        started.elapsed() < limit,
        "{:?}: {error}",
        started.elapsed()
    );
    error
}

#[tokio::test]
async fn one_server_and_its_database() {
    let server = shared_server().await;
    let mut options = options(&server.url());
    options.database = 3;
    let prefix = options.prefix.clone();
    let rig = Rig::connect_with(options).await;
    let key = rig.key("a");
    rig.grab(&key).await;
    let keyspace = server.info("keyspace").await.expect("info");
    assert!(keyspace.contains("db3:"), "{keyspace}");
    assert_eq!(
        rig.store.publishing(),
        if sharded_channels() { "s" } else { "p" }
    );
    assert!(key.as_str().starts_with(&prefix));
}

#[tokio::test]
async fn a_cluster_is_found_through_any_of_its_nodes() {
    let cluster = shared_cluster().await;
    for seed in cluster.seeds() {
        let rig = Rig::connect(&seed).await;
        for n in 0..6 {
            let key = rig.key(&format!("k{n}"));
            let (hold, _) = rig.grab(&key).await;
            let freed = rig.free(&key, &hold).await.expect("released");
            assert_eq!(freed.reply, Reply::Done);
        }
        assert_eq!(rig.store.stats().moved.get(), 0, "{seed}");
    }
}

#[tokio::test]
async fn of_a_master_and_its_replica_the_master_is_used() {
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
    let error = refused(options(&replica.url()), 3000).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("read-only replica"), "{error}");

    let both = format!("{},127.0.0.1:{}", replica.url(), master.port());
    let rig = Rig::connect(&both).await;
    let key = rig.key("a");
    let (_, first) = rig.grab(&key).await;

    // The replica takes over: found without a new client.
    replica.query::<()>(&["REPLICAOF", "NO", "ONE"]).await;
    master.kill();
    let (_, second) = rig.grab(&rig.key("b")).await;
    assert!(second > first);
}

#[tokio::test]
async fn two_masters_without_a_cluster_are_refused() {
    let (one, two) = (RedisServer::start().await, shared_server().await);
    let url = format!("{},127.0.0.1:{}", one.url(), two.port());
    let error = refused(options(&url), 3000).await;
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    assert!(
        error.to_string().contains("neither is a replica"),
        "{error}"
    );
}

#[tokio::test]
async fn a_wrong_password_is_said_at_once() {
    let server = RedisServer::start_with(&ServerOptions::new().password("right")).await;
    for login in [":wrong-one@", "nobody:wrong-one@", ""] {
        let url = format!("redis://{login}127.0.0.1:{}", server.port());
        let started = Instant::now();
        let error = refused(options(&url), 5000).await;
        assert!(started.elapsed() < Duration::from_secs(1));
        assert_eq!(error.kind(), ErrorKind::Unauthorized, "{login}: {error:?}");
        let text = format!("{error} {error:?}");
        assert!(text.contains("check the password"), "{text}");
        assert!(!text.contains("wrong-one"), "{text}");
    }
    Rig::connect(&server.url()).await;
}

#[tokio::test]
async fn missing_rights_are_named() {
    let server = RedisServer::start_with(
        &ServerOptions::new()
            .user("keyless", "on >pw ~other:* &* +@all")
            .user("scriptless", "on >pw ~* &* +@all -@scripting")
            .user("readonly", "on >pw ~* &* +@all -hset -pexpire"),
    )
    .await;
    let url = |user| format!("redis://{user}:pw@127.0.0.1:{}", server.port());
    for user in ["keyless", "scriptless"] {
        let error = refused(options(&url(user)), 3000).await;
        assert_eq!(error.kind(), ErrorKind::Unauthorized, "{user}: {error:?}");
        assert!(
            error
                .to_string()
                .contains(&format!("ACL SETUSER {user} resetkeys ~")),
            "{error}"
        );
    }
    let rig = Rig::connect(&url("readonly")).await;
    let error = rig.call(&rig.key("a"), &write(&rig.hold())).await;
    let error = error.expect_err("hset is denied");
    assert_eq!(error.kind(), ErrorKind::Unauthorized, "{error:?}");
    // Only newer servers say which command it was.
    let text = error.to_string();
    assert!(text.contains("it may not run `hset`"), "{text}");
}

#[tokio::test]
async fn the_rights_that_an_error_names_are_enough() {
    let server = ServerOptions::new().user("app", "on >pw");
    let cluster = ClusterOptions::new().replicas(0).server(server);
    let cluster = RedisCluster::start_with(&cluster).await;
    let options = options(&format!(
        "redis://app:pw@127.0.0.1:{}",
        cluster.node(1).port()
    ));
    let error = refused(options.clone(), 3000).await.to_string();
    let (_, advice) = error.split_once("ACL SETUSER ").expect("advice");
    let mut command = vec!["ACL", "SETUSER"];
    command.extend(advice.split(' '));
    for node in 0..cluster.len() {
        cluster.node(node).query::<()>(&command).await;
    }

    let rig = Rig::connect_with(options).await;
    assert_eq!(
        rig.store.publishing(),
        if sharded_channels() { "S" } else { "L" }
    );
    for n in 0..6 {
        let key = rig.key(&format!("k{n}"));
        let (hold, _) = rig.grab(&key).await;
        rig.call(&key, &Op::Inspect).await.expect("inspected");
        assert!(rig.listen(&key, &hold).await.is_subscribed());
        rig.free(&key, &hold).await.expect("released");
    }
    assert_eq!(rig.store.stats().no_script.get(), 0, "scripts were loaded");
}

#[tokio::test]
async fn nobody_there_is_said_by_the_deadline() {
    let gone = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = gone.local_addr().expect("bound").port();
    drop(gone);
    let error = refused(options(&format!("redis://127.0.0.1:{port}")), 400).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains(&port.to_string()), "{error}");

    // One that accepts and never says a word, and a name that does not exist.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = silent.local_addr().expect("bound").port();
    let error = refused(options(&format!("redis://127.0.0.1:{port}")), 1200).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    let error = refused(options("redis://no-such-host.invalid:6379"), 400).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
}

#[tokio::test]
async fn a_silent_seed_holds_up_no_other() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = silent.local_addr().expect("bound").port();
    let cluster = shared_cluster().await;
    let started = Instant::now();
    let url = format!(
        "redis://127.0.0.1:{port},127.0.0.1:{}",
        cluster.node(0).port()
    );
    Rig::connect(&url).await;
    assert!(
        started.elapsed() < Duration::from_millis(450),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_database_of_a_cluster_is_refused() {
    let cluster = shared_cluster().await;
    let error = refused(options(&format!("{}/1", cluster.seeds()[0])), 3000).await;
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    assert!(error.to_string().contains("/1"), "{error}");
}

#[tokio::test]
async fn a_cluster_that_is_down_is_said_by_the_deadline() {
    let server = RedisServer::start_with(&ServerOptions::new().config("cluster-enabled yes")).await;
    let error = refused(options(&server.url()), 800).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    let half: Vec<String> = (0..8000).map(|slot| slot.to_string()).collect();
    let mut command = vec!["CLUSTER", "ADDSLOTS"];
    command.extend(half.iter().map(String::as_str));
    server.query::<()>(&command).await;
    let error = refused(options(&server.url()), 800).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert!(error.to_string().contains("CLUSTERDOWN"), "{error}");
}
