//! A slot that takes long to move while its locks are in use.

use std::time::Duration;

use dlock_tests::{RedisCluster, SOON, builder, scaled, slot_of_lock, unique_prefix, wait_free};

const LEASE: Duration = Duration::from_millis(800);

/// A slot with many keys takes long to move, and all the while a lock's keys may be on one side or on the other.
#[tokio::test]
async fn a_slow_migration_loses_no_hold() {
    let cluster = RedisCluster::start().await;
    let prefix = unique_prefix();
    let client = builder(&cluster.url(), &prefix).lease(LEASE).build().await;
    let client = client.expect("the cluster is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let slot = slot_of_lock(&prefix, "one");
    let key = format!("{prefix}:{{one}}");
    let guard = lock.write().await.expect("free");

    let to = (cluster.master_of(slot).await + 1) % 3;
    let migration = cluster.begin_migration(slot, to).await;
    for step in ["with the old owner", "with the new one"] {
        let outcome = tokio::time::timeout(3 * LEASE, guard.lost()).await;
        assert!(outcome.is_err(), "lost while its key was {step}");
        // Other locks of the slot are as usable: those that exist, and those that do not yet.
        for name in ["{one}new", "{one}old"] {
            let other = client.rw_lock(name).expect("a valid name");
            for _ in 0..3 {
                let guard = other.write_timeout(scaled(SOON)).await;
                let guard = guard.unwrap_or_else(|error| panic!("{step}: {error}"));
                guard.release().await.expect("held to the end");
            }
        }
        migration.move_keys(&[&key]).await;
    }
    guard.release().await.expect("held to the end");
    migration.finish().await;
    wait_free(&lock).await;
}
