//! Wake-ups.

use std::time::Duration;

use dlock::__internals::{Op, RedisListening, Reply, lock_key};
use dlock::{LockKey, LockMode};
use dlock_tests::{
    FaultProxy, RedisCluster, RedisServer, ServerOptions, not_applicable, sharded_channels,
    shared_cluster, slot_of, unique_prefix, wait_until,
};
use tokio::time::{Instant, timeout};

use crate::redis_store::rig::{Rig, queue, release, within, write};

/// Whether a wake-up comes within `millis`.
async fn woken(listening: &RedisListening, millis: u64) -> bool {
    timeout(Duration::from_millis(millis), listening.woken())
        .await
        .is_ok()
}

/// Lets a second client queue behind a first, release, and hear of it.
async fn hand_over(holder: &Rig, waiter: &Rig, key: &LockKey) {
    let (held, _) = holder.grab(key).await;
    let waiting = waiter.hold();
    let listening = waiter.listen(key, &waiting).await;
    assert!(listening.is_subscribed());
    let ask = queue(&waiting, LockMode::Write);
    let queued = waiter.call(key, &ask).await.expect("queued");
    assert!(matches!(queued.reply, Reply::Queued { .. }));
    assert!(!woken(&listening, 20).await, "nobody released yet");
    let started = Instant::now();
    holder.free(key, &held).await.expect("released");
    assert!(woken(&listening, 1000).await);
    println!("woken after {:?}", started.elapsed());
    let granted = waiter.call(key, &ask).await.expect("granted");
    assert!(matches!(granted.reply, Reply::Granted(_)));
    waiter.free(key, &waiting).await.expect("released");
}

#[tokio::test]
async fn a_release_wakes_the_waiter_through_every_node() {
    let cluster = shared_cluster().await;
    let (holder, waiter) = (
        Rig::connect(&cluster.url()).await,
        Rig::connect(&cluster.url()).await,
    );
    for n in 0..6 {
        hand_over(&holder, &waiter, &holder.key(&format!("k{n}"))).await;
    }
}

#[tokio::test]
async fn listening_costs_nothing_once_the_channel_is_live() {
    let cluster = shared_cluster().await;
    let rig = Rig::connect(&cluster.url()).await;
    let key = rig.key("a");
    let (one, two) = (rig.hold(), rig.hold());
    assert!(rig.store.listen_if_subscribed(&key, &one).is_none());
    let first = rig.listen(&key, &one).await;
    let second = rig.store.listen_if_subscribed(&key, &two).expect("live");
    drop(first);
    assert!(second.is_subscribed());
    drop(second);
    // It lingers.
    assert!(rig.store.listen_if_subscribed(&key, &two).is_some());
}

#[tokio::test]
async fn wake_ups_survive_killed_connections() {
    let cluster = RedisCluster::start().await;
    let (holder, waiter) = (
        Rig::connect(&cluster.url()).await,
        Rig::connect(&cluster.url()).await,
    );
    let key = holder.key("a");
    let hold = waiter.hold();
    let listening = waiter.listen(&key, &hold).await;
    for round in 0..5 {
        cluster.client_kill_all("pubsub").await;
        assert!(woken(&listening, 2000).await, "the loss is told");
        let live = || async { listening.is_subscribed() };
        wait_until(Duration::from_secs(5), "subscribed again", live).await;
        // Told again, since a message may have been missed in between.
        if waiter.store.stats().resubscribed.get() == round {
            assert!(woken(&listening, 2000).await);
        }
        while woken(&listening, 20).await {}
        hand_over(&holder, &waiter, &key).await;
    }
    assert!(waiter.store.stats().resubscribed.get() >= 5);
}

#[tokio::test]
async fn wake_ups_follow_a_slot() {
    let cluster = RedisCluster::start().await;
    let (holder, waiter) = (
        Rig::connect(&cluster.url()).await,
        Rig::connect(&cluster.url()).await,
    );
    let key = holder.key("a");
    let hold = waiter.hold();
    let listening = waiter.listen(&key, &hold).await;
    let slot = slot_of(key.as_str());
    for _ in 0..3 {
        let from = cluster.master_of(slot).await;
        cluster.migrate_slot(slot, (from + 1) % 3).await;
        let live = || async { listening.is_subscribed() };
        wait_until(Duration::from_secs(5), "subscribed there", live).await;
        if !sharded_channels() {
            // A classic channel works from any node: it stays until a request tells of the move.
            let asked = waiter.call(&key, &Op::Inspect).await;
            asked.expect("inspected");
        }
        assert!(woken(&listening, 2000).await, "the move is told");
        wait_until(Duration::from_secs(5), "subscribed there", live).await;
        while woken(&listening, 50).await {}
        hand_over(&holder, &waiter, &key).await;
    }
    let old = cluster.kill_master_of(slot).await;
    cluster.wait_failover(slot, old).await;
    let live = || async { listening.is_subscribed() };
    wait_until(
        Duration::from_secs(10),
        "subscribed at the new master",
        live,
    )
    .await;
    while woken(&listening, 50).await {}
    hand_over(&holder, &waiter, &key).await;
}

#[tokio::test]
async fn channels_do_not_pile_up() {
    let server = RedisServer::start().await;
    let rig = Rig::connect(&server.url()).await;
    let channels = || async { server.channels().await.len() };
    // Given up at once, before or while they are subscribed, or after.
    for n in 0..10_000_u64 {
        let (key, hold) = (rig.key(&format!("k{n}")), rig.hold());
        let patience = Duration::from_micros(n % 3 * 100);
        let _ = timeout(patience, rig.listen(&key, &hold)).await;
    }
    let most = channels().await;
    println!("{most} channels linger after 10,000 waits");
    wait_until(Duration::from_secs(20), "no channel is left", || async {
        channels().await == 0
    })
    .await;
    let text = format!("{:?}", rig.store);
    assert!(text.contains("known: 0, idle: 0"), "{text}");
}

/// A server, and the URL for its user with these rights beside those to all keys.
async fn user_with(rights: &str) -> (RedisServer, String) {
    let rules = format!("on >pw ~* {rights}");
    let server = RedisServer::start_with(&ServerOptions::new().user("app", &rules)).await;
    let url = format!("redis://app:pw@127.0.0.1:{}", server.port());
    (server, url)
}

#[tokio::test]
async fn without_sharded_channels_the_classic_ones_serve() {
    let refused = if sharded_channels() {
        "-spublish -ssubscribe"
    } else {
        ""
    };
    let (_server, url) = user_with(&format!("&* +@all {refused}")).await;
    let (holder, waiter) = (Rig::connect(&url).await, Rig::connect(&url).await);
    assert_eq!(holder.store.publishing(), "p");
    hand_over(&holder, &waiter, &holder.key("a")).await;
}

#[tokio::test]
async fn sharded_channels_without_a_right_to_subscribe_are_found_out_by_trying() {
    if !sharded_channels() {
        return not_applicable("the server has no sharded channels");
    }
    let (_server, url) = user_with("&* +@all -ssubscribe").await;
    let half = Rig::connect(&url).await;
    assert_eq!(half.store.publishing(), "s");
    let (key, hold) = (half.key("a"), half.hold());
    let listening = half.listen(&key, &hold).await;
    let live = || async { listening.is_subscribed() };
    wait_until(Duration::from_secs(5), "subscribed the classic way", live).await;
    assert_eq!(half.store.publishing(), "p");
}

#[tokio::test]
async fn without_any_channel_nothing_waits_for_one() {
    let (_server, url) = user_with("resetchannels +@all").await;
    let deaf = Rig::connect(&url).await;
    assert_eq!(deaf.store.publishing(), "");
    let (key, hold) = (deaf.key("a"), deaf.hold());
    let started = Instant::now();
    let listening = deaf.listen(&key, &hold).await;
    assert!(!listening.is_subscribed());
    assert!(started.elapsed() < Duration::from_millis(50));
    let grabbed = deaf.grab(&key).await.0;
    deaf.free(&key, &grabbed)
        .await
        .expect("released without waking");
}

#[tokio::test]
async fn listening_gives_up_in_time() {
    let server = RedisServer::start().await;
    let proxy = FaultProxy::start(server.addr());
    let rig = Rig::connect(&proxy.url()).await;
    server.pause();
    let started = Instant::now();
    let (key, hold) = (rig.key("a"), rig.hold());
    let listening = rig.store.listen(&key, &hold, within(200)).await;
    assert!(!listening.is_subscribed());
    assert!(
        started.elapsed() < Duration::from_millis(400),
        "{:?}",
        started.elapsed()
    );
    server.resume();
    let live = || async { listening.is_subscribed() };
    wait_until(Duration::from_secs(5), "subscribed in the end", live).await;
    assert!(woken(&listening, 100).await, "told to look");
    rig.call(&key, &write(&hold)).await.expect("acquired");
    rig.call(&key, &release(&hold)).await.expect("released");
    rig.call(&key, &Op::Inspect).await.expect("inspected");
}

#[tokio::test]
async fn who_looks_passes_over_a_crowd_that_does_not_hear() {
    let cluster = shared_cluster().await;
    let (holder, dead, live) = (
        Rig::connect(&cluster.url()).await,
        Rig::connect(&cluster.url()).await,
        Rig::connect(&cluster.url()).await,
    );
    if holder.store.publishing() == "L" {
        return not_applicable("nobody knows who hears classic messages in a cluster");
    }
    let key = lock_key("crowd", &unique_prefix()).expect("a good name");
    let held = holder.grab(&key).await.0;
    for number in 0..300 {
        let mode = [LockMode::Write, LockMode::Read][number % 2];
        // They say that they have subscribed, and have not.
        let reply = dead.call(&key, &queue(&dead.hold(), mode)).await;
        assert!(matches!(
            reply.expect("answered").reply,
            Reply::Queued { .. }
        ));
    }
    let mine = queue(&live.hold(), LockMode::Write);
    let reply = live.call(&key, &mine).await.expect("answered").reply;
    assert!(matches!(reply, Reply::Queued { .. }), "{reply:?}");
    holder.free(&key, &held).await.expect("released");
    let reply = live.call(&key, &mine).await.expect("answered").reply;
    assert!(matches!(reply, Reply::Granted(_)), "{reply:?}");
}
