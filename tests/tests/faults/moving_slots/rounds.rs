//! A slot that goes to and fro.

use std::{
    fmt::Debug,
    str::FromStr,
    sync::Arc,
    time::{Duration, Instant},
};

use dlock::WriteGuard;
use dlock_tests::{
    ClusterOptions, RedisCluster, SOON, builder, scaled, slot_of, unique_prefix, wait_until,
};
use tokio::time::sleep;

use crate::{
    load::{Load, Shape, TAG, Waits},
    observer::Observer,
};

/// In so many moves the servers forget their scripts twice: while a slot moves, and when it has moved.
const FLUSHES: u32 = 8;
/// From so many on, the sum is large enough to compare rates.
const MANY: u32 = 300;
/// What a moving slot may cost: a redirect to follow, and a few milliseconds that MIGRATE blocks.
const LEAST_RATIO: f64 = 0.7;
/// With fewer moves, and on a busy machine: it does not stand still, at least.
const LEAST_RATIO_OF_FEW: f64 = 0.3;

/// Two masters, and no other node that would have to learn of each move.
pub(crate) async fn two_masters() -> RedisCluster {
    let options = ClusterOptions::new().masters(2).replicas(0);
    RedisCluster::start_with(&options).await
}

/// A hold in the slot that moves, which lasts as long as a test, and is renewed while the slot moves.
async fn standing(cluster: &RedisCluster) -> WriteGuard {
    let lease = scaled(Duration::from_secs(2));
    let client = builder(&cluster.url(), &unique_prefix()).lease(lease);
    let client = client.build().await.expect("the cluster is up");
    let lock = client.rw_lock(format!("{TAG}standing"));
    lock.expect("a valid name").write().await.expect("free")
}

/// Runs the load, moves the slot again and again, and judges.
pub(crate) async fn survives(shape: Shape) {
    let moves: u32 = setting("DLOCK_MOVES", 40);
    let open = Duration::from_millis(setting("DLOCK_OPEN_MS", 25));
    let cluster = two_masters().await;
    let (slot, observer) = (slot_of(TAG), Arc::new(Observer::new()));
    let load = Load::start(&cluster.url(), (shape, Waits::Mixed), &observer).await;
    wait_until(SOON, "everybody has begun", || async {
        observer.holds() > 100
    })
    .await;

    let standing = standing(&cluster).await;

    // In the pauses too, as other things on the machine do not keep still.
    let (mut before, mut during) = (Rate::default(), Rate::default());
    before.of(&observer, sleep(Duration::from_secs(1))).await;
    for number in 0..moves {
        let to = 1 - cluster.master_of(slot).await;
        let migration = cluster.begin_migration(slot, to).await;
        if number % FLUSHES == 0 {
            cluster.script_flush_all().await;
        }
        // The keys move first, last, or in between.
        let part = fastrand::f64();
        during.of(&observer, sleep(open.mul_f64(part))).await;
        migration.move_all_keys().await;
        during.of(&observer, sleep(open.mul_f64(1.0 - part))).await;
        migration.finish().await;
        if number % FLUSHES == FLUSHES / 2 {
            cluster.script_flush_all().await;
        }
        before
            .of(&observer, sleep(open.max(Duration::from_millis(5))))
            .await;
        standing.check().expect("renewed through all of it");
    }
    load.stop().await;
    standing.release().await.expect("held to the end");
    let ratio = during.per_second() / before.per_second();
    println!(
        "{moves} moves, open for {open:?}: {:.0} holds/s with the slot at rest, {:.0} while it moves ({:.0} %)",
        before.per_second(),
        during.per_second(),
        100.0 * ratio
    );
    observer.judge();
    if open >= Duration::from_millis(10) {
        let least = if moves >= MANY {
            LEAST_RATIO
        } else {
            LEAST_RATIO_OF_FEW
        };
        assert!(ratio >= least, "{ratio:.2} of the holds at rest");
    }
}

/// Holds over time, summed over many stretches.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    holds: u64,
    time: Duration,
}

impl Rate {
    pub(crate) async fn of(&mut self, observer: &Observer, stretch: impl Future<Output = ()>) {
        let (holds, start) = (observer.holds(), Instant::now());
        stretch.await;
        self.holds += observer.holds() - holds;
        self.time += start.elapsed();
    }

    #[expect(clippy::cast_precision_loss, reason = "far from 2^52 holds")]
    pub(crate) fn per_second(&self) -> f64 {
        self.holds as f64 / self.time.as_secs_f64()
    }
}

pub(crate) fn setting<T: FromStr<Err: Debug>>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => default,
    }
}
