//! Everything at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dlock::__internals::{Op, Reply};
use dlock_tests::{RedisCluster, slot_of};

use crate::redis_store::rig::{Rig, renew, within};

/// Acquires, renews, listens and releases one lock over and over; says how often.
async fn work(rig: Arc<Rig>, name: String, done: Arc<AtomicBool>) -> usize {
    let key = rig.key(&name);
    let mut last = None;
    let mut rounds = 0;
    while !done.load(Ordering::Relaxed) {
        let (hold, token) = rig.grab(&key).await;
        assert!(Some(token) > last, "{name}: {token} after {last:?}");
        last = Some(token);
        let listening = rig.store.listen(&key, &hold, within(100)).await;
        let node = rig.store.node_of(key.slot());
        let batch = [(key.clone(), renew(&hold))];
        let renewed = rig.call_batch(node, &batch, within(2000)).await;
        match &renewed[..] {
            [Ok(answer)] => assert_eq!(answer.reply, Reply::Done),
            [Err(error)] => assert!(error.is_timeout() || error.is_unavailable(), "{error:?}"),
            other => panic!("{other:?}"),
        }
        drop(listening);
        let freed = rig.free(&key, &hold).await.expect("released");
        assert!(freed.reply == Reply::Done || freed.resent, "{freed:?}");
        rounds += 1;
    }
    rounds
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_fails_in_a_storm() {
    let cluster = RedisCluster::start().await;
    let rig = Arc::new(Rig::connect(&cluster.url()).await);
    let done = Arc::new(AtomicBool::new(false));
    let names = || (0..16).map(|n| format!("w{n}"));
    let workers: Vec<_> = names()
        .map(|name| tokio::spawn(work(Arc::clone(&rig), name, Arc::clone(&done))))
        .collect();
    for round in 0..12 {
        let slot = slot_of(rig.key(&format!("w{round}")).as_str());
        match round % 4 {
            0 => cluster.client_kill_all("normal").await,
            1 => cluster.client_kill_all("pubsub").await,
            2 => cluster.script_flush_all().await,
            _ => {
                cluster.failover(slot).await;
            }
        }
        let masters = cluster.masters().await;
        let from = cluster.master_of(slot).await;
        let to = masters.into_iter().find(|master| *master != from);
        cluster
            .migrate_slot(slot, to.expect("there are three"))
            .await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    done.store(true, Ordering::Relaxed);
    let mut rounds = 0;
    for worker in workers {
        rounds += worker.await.expect("no worker failed");
    }
    println!("{rounds} rounds, {:?}", rig.store.stats());
    for name in names() {
        let state = rig.call(&rig.key(&name), &Op::Inspect).await;
        let Reply::Info(info) = state.expect("inspected").reply else {
            panic!("not a state");
        };
        assert!(info.holders.is_empty(), "{name}: {info:?}");
    }
}
