//! Several seeds that take themselves for masters, and which of them clients use.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use dlock_tests::{
    Direction, FaultProxy, Impostor, Lie, RedisServer, builder, connect, scaled, unique_prefix,
    wait_until,
};

use crate::demoted::servers::{follow, pair, promote, takes, url};

const SOON: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(6);

/// A seed that is a master, too: it was promoted before the other was demoted, or has just come back.
#[tokio::test]
async fn a_broken_connection_does_not_lead_to_another_master() {
    let (master, replica) = pair().await;
    let client = connect(&url([&master, &replica]), &unique_prefix()).await;
    let lock = client.rw_lock("one").expect("a valid name");
    promote(&replica).await;
    for _ in 0..20 {
        let _: i64 = master.query(&["CLIENT", "KILL", "TYPE", "normal"]).await;
        let guard = lock.write().await.expect("the server is up");
        let key = lock.key().as_str();
        let there: i64 = replica.query(&["HLEN", key]).await;
        assert_eq!(there, 0, "the lock is at another server than before");
        guard.release().await.expect("held to the end");
    }
}

/// Also not when they break while it is asked whether it is still the master.
#[tokio::test]
async fn connections_that_break_again_and_again_do_not_lead_to_another_master() {
    let (master, replica) = pair().await;
    let breaks = Arc::new(AtomicUsize::new(0));
    let left = Arc::clone(&breaks);
    let before = Impostor::start(master.addr(), move |asked| {
        let one_less = |left: usize| left.checked_sub(1);
        let is_asked = asked.words == ["HELLO"];
        let breaks = is_asked && left.fetch_update(SeqCst, SeqCst, one_less).is_ok();
        breaks.then_some(Lie::HangUp)
    });
    let url = format!("redis://{},{}", before.addr(), replica.addr());
    let client = connect(&url, &unique_prefix()).await;
    let lock = client.rw_lock("one").expect("a valid name");
    promote(&replica).await;
    breaks.store(5, SeqCst);
    let _: i64 = master.query(&["CLIENT", "KILL", "TYPE", "normal"]).await;
    let holds = wait_until(SOON, "it was asked often enough", || async {
        let guard = lock.write().await.expect("the server is up");
        let key = lock.key().as_str();
        let there: i64 = replica.query(&["HLEN", key]).await;
        assert_eq!(there, 0, "the lock is at another server than before");
        guard.release().await.expect("held to the end");
        breaks.load(SeqCst) == 0
    });
    holds.await;
}

/// Its connections are accepted, and nothing is answered.
#[tokio::test]
async fn a_master_that_hangs_is_left_for_the_one_that_was_promoted() {
    let (master, replica) = pair().await;
    let client = connect(&url([&master, &replica]), &unique_prefix()).await;
    let lock = client.rw_lock("one").expect("a valid name");
    let guard = lock.write().await.expect("free");
    guard.release().await.expect("held to the end");
    master.pause();
    promote(&replica).await;
    wait_until(SOON, "the lock is at the new master", || async {
        lock.write().await.is_ok()
    })
    .await;
    master.resume();
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
    follow(&a, &b).await;
    let built = builds.await.expect("no panic");
    built.expect("one of them is the master");
}

/// Whose connections to it still live would hold locks there, and others elsewhere.
#[tokio::test]
async fn a_server_that_refuses_a_user_is_left_by_nobody() {
    let (a, b) = pair().await;
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
