//! Slots that move, masters that change, scripts that are forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dlock::__internals::Reply;
use dlock::LockMode;
use dlock_tests::{RedisCluster, shared_cluster, slot_of, wait_until};
use tokio::time::Instant;

use crate::redis_store::rig::{Rig, queue, release, renew, within};

#[tokio::test]
async fn a_moved_slot_is_followed_and_remembered() {
    let cluster = RedisCluster::start().await;
    let rig = Rig::connect(&cluster.url()).await;
    let key = rig.key("a");
    let (hold, token) = rig.grab(&key).await;
    let slot = slot_of(key.as_str());
    let old = cluster.master_of(slot).await;
    let before = rig.store.node_of(key.slot());
    cluster.migrate_slot(slot, (old + 1) % 3).await;

    let renewed = rig.call(&key, &renew(&hold)).await.expect("followed");
    assert_eq!((renewed.reply, renewed.resent), (Reply::Done, false));
    assert_eq!(rig.store.stats().moved.get(), 1);
    let within = Duration::from_secs(2);
    wait_until(within, "the topology is up to date", || async {
        rig.store.node_of(key.slot()) != before
    })
    .await;
    rig.call(&key, &renew(&hold)).await.expect("at once");
    assert_eq!(rig.store.stats().moved.get(), 1);
    rig.free(&key, &hold).await.expect("released");
    let (_, next) = rig.grab(&key).await;
    assert!(next > token);
}

#[tokio::test]
async fn a_slot_on_its_way_delays_nobody() {
    let cluster = RedisCluster::start().await;
    let rig = Rig::connect(&cluster.url()).await;
    let key = rig.key("a");
    let (mut hold, _) = rig.grab(&key).await;
    let slot = slot_of(key.as_str());
    let to = (cluster.master_of(slot).await + 1) % 3;
    let migration = cluster.begin_migration(slot, to).await;

    // Before and after the key has moved.
    for _ in 0..2 {
        let renewed = rig.call(&key, &renew(&hold)).await.expect("renewed");
        assert_eq!(renewed.reply, Reply::Done);
        let freed = rig.free(&key, &hold).await.expect("released");
        assert_eq!(freed.reply, Reply::Done);
        (hold, _) = rig.grab(&key).await;
        migration.move_all_keys().await;
    }

    let queued = rig.call(&key, &queue(&rig.hold(), LockMode::Write)).await;
    let reply = queued.expect("answered while the slot moves").reply;
    assert!(matches!(reply, Reply::Queued { .. }), "{reply:?}");
    assert_eq!(rig.store.stats().deferred.get(), 0);
    assert!(rig.store.stats().asked.get() > 0);
    migration.finish().await;
}

#[tokio::test]
async fn a_key_that_has_gone_ahead_is_asked_for() {
    let cluster = RedisCluster::start().await;
    let rig = Rig::connect(&cluster.url()).await;
    let key = rig.key("a");
    // All four keys exist: a holder, a waiting writer and a waiting reader.
    let (hold, _) = rig.grab(&key).await;
    for mode in [LockMode::Write, LockMode::Read] {
        let answer = rig
            .call(&key, &queue(&rig.hold(), mode))
            .await
            .expect("asked");
        assert!(matches!(answer.reply, Reply::Queued { .. }));
    }
    let slot = slot_of(key.as_str());
    let to = (cluster.master_of(slot).await + 1) % 3;
    let migration = cluster.begin_migration(slot, to).await;
    migration.move_all_keys().await;

    let renewed = rig.call(&key, &renew(&hold)).await.expect("asked");
    assert_eq!(renewed.reply, Reply::Done);
    assert_eq!(rig.store.stats().asked.get(), 1);
    // The scripts are known there: this client has used the node for other locks.
    assert_eq!(rig.store.stats().no_script.get(), 0);
    cluster.script_flush_all().await;
    let renewed = rig.call(&key, &renew(&hold)).await.expect("asked");
    assert_eq!(renewed.reply, Reply::Done);
    assert_eq!(rig.store.stats().no_script.get(), 1);
    migration.finish().await;
    let freed = rig.call(&key, &release(&hold)).await.expect("followed");
    assert_eq!(freed.reply, Reply::Done);
}

#[tokio::test]
async fn a_failover_is_survived() {
    let cluster = RedisCluster::start().await;
    let rig = Rig::connect(&cluster.url()).await;
    let key = rig.key("a");
    let (hold, _) = rig.grab(&key).await;
    cluster.failover(slot_of(key.as_str())).await;
    let renewed = rig
        .call(&key, &renew(&hold))
        .await
        .expect("at the new master");
    assert_eq!(renewed.reply, Reply::Done);

    let started = Instant::now();
    let slot = slot_of(key.as_str());
    let old = cluster.kill_master_of(slot).await;
    // The master died with its connections; a caller with patience notices nothing else.
    let renewed = rig.store.call(&key, &renew(&hold), within(20_000)).await;
    assert_eq!(renewed.expect("after the election").reply, Reply::Done);
    cluster.node(old).restart().await;
    println!(
        "killed master: {:?} until the next answer",
        started.elapsed()
    );
    assert!(rig.store.stats().topology_changes.get() >= 2);
}

#[tokio::test]
async fn forgotten_scripts_are_sent_again() {
    let cluster = shared_cluster().await;
    let rig = Arc::new(Rig::connect(&cluster.url()).await);
    let done = Arc::new(AtomicBool::new(false));
    let workers: Vec<_> = (0..8)
        .map(|n| {
            let (rig, done) = (Arc::clone(&rig), Arc::clone(&done));
            tokio::spawn(async move {
                let key = rig.key(&format!("w{n}"));
                while !done.load(Ordering::Relaxed) {
                    let (hold, _) = rig.grab(&key).await;
                    let freed = rig.free(&key, &hold).await.expect("released");
                    assert_eq!((freed.reply, freed.resent), (Reply::Done, false));
                }
            })
        })
        .collect();
    for _ in 0..20 {
        cluster.script_flush_all().await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    done.store(true, Ordering::Relaxed);
    for worker in workers {
        worker.await.expect("no worker failed");
    }
    assert!(rig.store.stats().no_script.get() > 0);
}
