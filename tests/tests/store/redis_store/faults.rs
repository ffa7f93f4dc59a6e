//! Connections that break, servers that hang, replies that are lost.

use std::time::Duration;

use dlock::__internals::Reply;
use dlock::ErrorKind;
use dlock_tests::{
    ClusterOptions, Direction, FaultProxy, RedisCluster, RedisServer, ServerOptions, scaled,
    shared_server, slot_of, wait_until,
};
use futures_util::future::join_all;
use tokio::time::Instant;

use crate::redis_store::rig::{Rig, options, release, renew, within, write};

#[tokio::test]
async fn killed_connections_come_back() {
    let server = RedisServer::start().await;
    let rig = Rig::connect(&server.url()).await;
    let key = rig.key("a");
    for round in 1..=20_u64 {
        server
            .query::<u64>(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
            .await;
        let started = Instant::now();
        let (hold, _) = rig.grab(&key).await;
        rig.free(&key, &hold).await.expect("released");
        assert!(
            started.elapsed() < Duration::from_millis(300),
            "{:?}",
            started.elapsed()
        );
        assert_eq!(rig.store.stats().reconnects.get(), round);
    }
}

#[tokio::test]
async fn a_lost_reply_has_the_effect_of_once_and_is_told() {
    let server = shared_server().await;
    let proxy = FaultProxy::start(server.addr());
    let rig = Rig::connect(&proxy.url()).await;
    let key = rig.key("a");
    let hold = rig.hold();

    proxy.cut_after_request("EVAL", 1);
    let answer = rig.call(&key, &write(&hold)).await.expect("in the end");
    assert!(answer.resent);
    let Reply::Granted(token) = answer.reply else {
        panic!("{answer:?}");
    };
    let again = rig.call(&key, &write(&hold)).await.expect("again");
    assert_eq!((again.reply, again.resent), (Reply::Granted(token), false));

    proxy.cut_after_request("EVAL", 1);
    let answer = rig.call(&key, &renew(&hold)).await.expect("in the end");
    assert_eq!((answer.reply, answer.resent), (Reply::Done, true));
    proxy.cut_before_request("EVAL", 1);
    let answer = rig.call(&key, &renew(&hold)).await.expect("in the end");
    assert_eq!((answer.reply, answer.resent), (Reply::Done, true));

    proxy.cut_after_request("EVAL", 1);
    let answer = rig.call(&key, &release(&hold)).await.expect("in the end");
    assert_eq!((answer.reply, answer.resent), (Reply::Gone, true));

    // Without a script: no other client has asked for this lock.
    let key = rig.key("b");
    let (hold, _) = rig.grab(&key).await;
    proxy.cut_after_request("HDEL", 1);
    let answer = rig.free(&key, &hold).await.expect("in the end");
    assert_eq!((answer.reply, answer.resent), (Reply::Gone, true));
    let key = rig.key("c");
    let (hold, _) = rig.grab(&key).await;
    proxy.cut_before_request("HDEL", 1);
    let answer = rig.free(&key, &hold).await.expect("in the end");
    assert_eq!((answer.reply, answer.resent), (Reply::Done, true));
}

#[tokio::test]
async fn a_dead_connection_that_nobody_closed_is_replaced() {
    let server = shared_server().await;
    let proxy = FaultProxy::start(server.addr());
    let mut options = options(&proxy.url());
    options.response_timeout = Duration::from_millis(200);
    let rig = Rig::connect_with(options).await;
    let key = rig.key("a");
    proxy.blackhole(Direction::ToClient);
    // Short deadlines: no single request waits for the whole response timeout.
    let started = Instant::now();
    while proxy.counters().accepted < 2 {
        let error = rig.store.call(&key, &renew(&rig.hold()), within(50)).await;
        let error = error.expect_err("nothing comes back");
        assert!(error.is_timeout() || error.is_unavailable(), "{error:?}");
        assert!(started.elapsed() < Duration::from_secs(2));
    }
    proxy.pass();
    rig.grab(&key).await;
}

#[tokio::test]
async fn a_server_that_hangs_costs_the_deadline_and_no_more() {
    let server = RedisServer::start().await;
    let rig = Rig::connect(&server.url()).await;
    let key = rig.key("a");
    server.pause();
    for millis in [50, 700] {
        let started = Instant::now();
        let error = rig
            .store
            .call(&key, &write(&rig.hold()), within(millis))
            .await;
        let error = error.expect_err("the server is paused");
        assert!(error.is_timeout(), "{error:?}");
        let took = started.elapsed();
        assert!(took < Duration::from_millis(millis + 150), "{took:?}");
    }
    server.resume();
    rig.grab(&rig.key("b")).await;
}

/// Many clients that ask a slow server again would keep it slow.
#[tokio::test]
async fn a_server_that_stood_still_gets_no_request_twice() {
    let server = RedisServer::start().await;
    let proxy = FaultProxy::start(server.addr());
    let mut options = options(&proxy.url());
    options.response_timeout = Duration::from_millis(200);
    let rig = Rig::connect_with(options).await;
    let keys: Vec<_> = (0..20).map(|n| rig.key(&format!("k{n}"))).collect();
    let holds = join_all(keys.iter().map(|key| rig.grab(key))).await;
    rig.call(&keys[0], &renew(&holds[0].0))
        .await
        .expect("teaches the server the script");
    let before = server.command_stats().await;
    server.pause();
    let again = &rig;
    let renewed = join_all(keys.iter().zip(&holds).map(|(key, (hold, _))| {
        let op = renew(hold);
        async move { again.call(key, &op).await.expect("in the end").reply }
    }));
    let resumed = async {
        // The second one after the first has had all the time for a login that there is.
        let doubted = || async { proxy.counters().accepted >= 3 };
        wait_until(Duration::from_secs(10), "two other connections", doubted).await;
        server.resume();
    };
    let (renewed, ()) = tokio::join!(renewed, resumed);
    assert_eq!(renewed, vec![Reply::Done; 20]);
    let scripts = server.command_stats().await.since(&before).scripts();
    assert_eq!(scripts, 20);
    assert_eq!(rig.store.stats().reconnects.get(), 0);
}

/// The master keeps its other slots, so the client goes on waiting for it.
#[tokio::test]
async fn requests_follow_a_slot_that_leaves_a_silent_master() {
    let patient = ClusterOptions::new().node_timeout(60_000);
    let cluster = RedisCluster::start_with(&patient).await;
    let mut options = options(&cluster.url());
    options.response_timeout = Duration::from_millis(200);
    let rig = Rig::connect_with(options).await;
    let key = rig.key("a");
    let (hold, _) = rig.grab(&key).await;
    rig.free(&key, &hold).await.expect("released");
    let slot = slot_of(key.as_str());
    let silent = cluster.master_of(slot).await;
    let masters = cluster.masters().await;
    let to = masters.into_iter().find(|master| *master != silent);
    let to = to.expect("there are three");
    // So that the client asks this one when it looks for the slot.
    let others: Vec<_> = (0..50).map(|n| rig.key(&format!("k{n}"))).collect();
    join_all(others.iter().map(|key| rig.grab(key))).await;
    cluster.node(silent).pause();
    let (node, slot) = (cluster.node(to), slot.to_string());
    let moved = async {
        let owned = ["CLUSTER", "SETSLOT", &slot, "NODE", cluster.id(to)];
        node.query::<String>(&owned).await;
        node.query::<String>(&["CLUSTER", "BUMPEPOCH"]).await;
    };
    let begun = Instant::now();
    let op = write(&rig.hold());
    let grabbed = rig.store.call(&key, &op, within(30_000));
    let (answer, ()) = tokio::join!(grabbed, moved);
    assert!(answer.expect("by the other").resent);
    let took = begun.elapsed();
    assert!(took < scaled(Duration::from_secs(10)), "{took:?}");
    cluster.node(silent).resume();
}

#[tokio::test]
async fn a_hanging_node_delays_no_other() {
    // Otherwise the other nodes refuse to serve while a slot has no master.
    let server = ServerOptions::new().config("cluster-require-full-coverage no");
    let cluster = RedisCluster::start_with(&ClusterOptions::new().server(server)).await;
    let rig = Rig::connect(&cluster.url()).await;
    let slow = rig.key("slow");
    rig.grab(&slow).await;
    let paused = cluster.master_of(slot_of(slow.as_str())).await;
    let third = usize::from(slot_of(slow.as_str()) / 5462);
    let fast = rig.key_in(|slot| usize::from(slot / 5462) != third);
    rig.grab(&fast).await;
    cluster.node(paused).pause();
    let vain = async {
        for _ in 0..4 {
            let _ = rig
                .store
                .call(&slow, &renew(&rig.hold()), within(400))
                .await;
        }
    };
    let busy = async {
        let mut slowest = Duration::ZERO;
        let until = within(1600);
        while Instant::now() < until {
            let started = Instant::now();
            rig.call(&fast, &renew(&rig.hold()))
                .await
                .expect("answered");
            slowest = slowest.max(started.elapsed());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        slowest
    };
    let ((), slowest) = tokio::join!(vain, busy);
    println!("slowest answer of a healthy node: {slowest:?}");
    assert!(slowest < Duration::from_millis(150), "{slowest:?}");
    cluster.node(paused).resume();
}

#[tokio::test]
async fn a_server_that_died_is_named_and_found_again() {
    let server = RedisServer::start().await;
    let rig = Rig::connect(&server.url()).await;
    let key = rig.key("a");
    server.kill();
    let error = rig.store.call(&key, &write(&rig.hold()), within(500)).await;
    let error = error.expect_err("dead");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert!(
        error.to_string().contains(&server.port().to_string()),
        "{error}"
    );
    server.restart().await;
    rig.grab(&key).await;
}

#[tokio::test]
async fn a_foreign_key_is_named() {
    let server = shared_server().await;
    let rig = Rig::connect(&server.url()).await;
    let key = rig.key("a");
    server.query::<()>(&["SET", key.as_str(), "mine"]).await;
    let error = rig
        .call(&key, &write(&rig.hold()))
        .await
        .expect_err("a string");
    assert_eq!(error.kind(), ErrorKind::ForeignKey, "{error:?}");
    assert!(error.to_string().contains(key.as_str()), "{error}");
}

#[tokio::test]
async fn a_server_turned_replica_is_waited_for() {
    let (server, master) = (RedisServer::start().await, RedisServer::start().await);
    let rig = Rig::connect(&server.url()).await;
    let key = rig.key("a");
    let port = master.port().to_string();
    server.query::<()>(&["REPLICAOF", "127.0.0.1", &port]).await;
    wait_until(Duration::from_secs(10), "it is a replica", || async {
        let info = server.info("replication").await;
        info.is_ok_and(|info| info.contains("master_link_status:up"))
    })
    .await;
    let error = rig.store.call(&key, &write(&rig.hold()), within(300)).await;
    let error = error.expect_err("read-only");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert!(error.to_string().contains("READONLY"), "{error}");
    let op = write(&rig.hold());
    let (answer, ()) = tokio::join!(rig.call(&key, &op), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.query::<()>(&["REPLICAOF", "NO", "ONE"]).await;
    });
    assert!(matches!(
        answer.expect("a master again").reply,
        Reply::Granted(_)
    ));
}

#[tokio::test]
async fn nothing_runs_on_after_the_store_is_gone() {
    let server = RedisServer::start().await;
    for shut_down in [true, false] {
        let rig = Rig::connect(&server.url()).await;
        let key = rig.key("a");
        let (hold, _) = rig.grab(&key).await;
        let listening = rig.listen(&key, &hold).await;
        assert!(listening.is_subscribed());
        if shut_down {
            rig.store.shutdown().await;
            let error = rig.call(&key, &release(&hold)).await;
            assert!(error.expect_err("shut down").is_closed());
        } else {
            drop(rig);
        }
        let within = Duration::from_secs(5);
        wait_until(within, "the connections are closed", || async {
            let clients: String = server.query(&["CLIENT", "LIST"]).await;
            clients.lines().count() == 1
        })
        .await;
        assert!(!listening.is_subscribed());
    }
}
