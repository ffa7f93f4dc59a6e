//! A slot that goes to and fro in one step each time.

use std::{sync::Arc, time::Duration};

use dlock_tests::{
    AtomicMigration, ClusterOptions, Moved, RedisCluster, SLOTS, SOON, not_applicable, slot_of,
    wait_until,
};
use tokio::time::sleep;

use crate::{
    load::{Load, Shape, TAG, Waits},
    observer::Observer,
    rounds::{Rate, setting},
    write_pauses::WritePauses,
};

/// A slot of each shard that never moves: it says who is the shard's master.
const HOMES: [u16; 2] = [0, SLOTS - 1];
/// How long a source pauses writes at most, in ms, where that can be set apart (Redis): a lease outlasts it.
const PAUSE: [&str; 2] = ["cluster-slot-migration-write-pause-timeout", "3000"];
/// Of so many migrations, this one is called off, and this one has a failover beside it.
const CYCLE: [(u32, u32); 2] = [(4, 1), (10, 6)];

/// What happened to the migrations.
#[derive(Debug, Default)]
struct Count {
    moved: u32,
    called_off: u32,
    too_late_to_call_off: u32,
    failovers: u32,
    failed: u32,
}

/// Two masters with a replica each: masters change when one fails over.
async fn two_pairs() -> RedisCluster {
    let options = ClusterOptions::new().masters(2);
    let cluster = RedisCluster::start_with(&options).await;
    for number in 0..cluster.len() {
        let [name, value] = PAUSE;
        let set = ["CONFIG", "SET", name, value];
        let _ = cluster.node(number).command(&set).await;
    }
    cluster
}

/// Runs the load, moves the slot again and again, and judges.
pub(crate) async fn survives(shape: Shape) {
    let moves: u32 = setting("DLOCK_ATOMIC_MOVES", 20);
    let cluster = Arc::new(two_pairs().await);
    let slot = slot_of(TAG);
    let [_, target] = shards(&cluster, slot).await;
    let to = cluster.master_of(HOMES[target]).await;
    let Some(first) = cluster.begin_atomic_migration(slot, to).await else {
        return not_applicable("these servers move no slot in one step");
    };
    assert_eq!(first.end().await, Moved::Yes);
    cluster.wait_ok().await;
    let observer = Arc::new(Observer::new());
    let load = Load::start(&cluster.url(), (shape, Waits::Long), &observer).await;
    wait_until(SOON, "everybody has begun", || async {
        shape == Shape::Quiet || observer.holds() > 100
    })
    .await;

    let pauses = Arc::new(WritePauses::default());
    let watch = tokio::spawn(Arc::clone(&pauses).watch(Arc::clone(&cluster)));
    // In the pauses too, as other things on the machine do not keep still.
    let (mut before, mut during) = (Rate::default(), Rate::default());
    before.of(&observer, sleep(Duration::from_secs(1))).await;
    let mut count = Count::default();
    for number in 0..moves {
        let [called_off, failover] = CYCLE.map(|(of, which)| number % of == which);
        let step = one_move(&cluster, slot, called_off, failover, &mut count);
        during.of(&observer, step).await;
        before.of(&observer, sleep(Duration::from_millis(25))).await;
    }
    load.stop().await;
    let pauses = pauses.enough();
    watch.await.expect("no panic");
    println!(
        "{shape:?}: {moves} atomic migrations, {count:?}; {:.0} holds/s at rest, {:.0} beside them",
        before.per_second(),
        during.per_second(),
    );
    if shape != Shape::Quiet {
        println!("no hold ended for {:?} at most", observer.longest_gap());
    }
    observer.excuse(&pauses);
    observer.judge();
    assert_eq!(
        count.moved + count.called_off + count.failed,
        moves,
        "{count:?}"
    );
    assert!(
        count.moved > moves / 2 && count.called_off > 0 && count.failovers > 0,
        "{count:?}"
    );
}

/// One migration, and what goes with it.
async fn one_move(
    cluster: &RedisCluster,
    slot: u16,
    called_off: bool,
    failover: bool,
    count: &mut Count,
) {
    let [source, target] = shards(cluster, slot).await;
    let (from, to) = (
        cluster.master_of(HOMES[source]).await,
        cluster.master_of(HOMES[target]).await,
    );
    // So many microseconds for each key: long enough to be met on its way.
    let slowly = if called_off || failover { "20000" } else { "0" };
    let delay = ["CONFIG", "SET", "rdb-key-save-delay", slowly];
    cluster.node(from).query::<()>(&delay).await;
    let migration = cluster.begin_atomic_migration(slot, to).await;
    let migration = migration.expect("these servers have moved it before");
    let stays = called_off && call_off(&migration).await;
    if failover {
        // Not of the source: the guide advises against it, as a server may lose locks then (Valkey 9.1) or crash (Redis 8.6.3).
        cluster.failover(HOMES[target]).await;
        count.failovers += 1;
    }
    match migration.end().await {
        Moved::Yes if stays => panic!("it was called off, and the slot moved all the same"),
        Moved::Yes => count.moved += 1,
        Moved::No(_) if stays => count.called_off += 1,
        Moved::No(_) if failover => count.failed += 1,
        Moved::No(why) => panic!("nothing was in its way: {why}"),
    }
    count.too_late_to_call_off += u32::from(called_off && !stays);
    cluster.wait_ok().await;
}

/// Calls a migration off at any moment of it; whether that was in time.
async fn call_off(migration: &AtomicMigration<'_>) -> bool {
    sleep(Duration::from_micros(fastrand::u64(..40_000))).await;
    migration.call_off().await.expect("the server answers")
}

/// Which shard has the slot, and which has not.
async fn shards(cluster: &RedisCluster, slot: u16) -> [usize; 2] {
    let owner = cluster.master_of(slot).await;
    if owner == cluster.master_of(HOMES[0]).await {
        [0, 1]
    } else {
        [1, 0]
    }
}
