//! A lock that is held while its slot moves: no other client gets in, at whichever node the keys are.

use std::time::Duration;

use dlock::{Client, ErrorKind, TimeoutStep};
use dlock_tests::{SOON, builder, scaled, slot_of_lock, unique_prefix, wait_free};

use crate::rounds::two_masters;

const SHORT: Duration = Duration::from_millis(400);

async fn client(url: &str, prefix: &str) -> Client {
    let lease = scaled(Duration::from_secs(6));
    let client = builder(url, prefix).lease(lease).build().await;
    client.expect("the cluster is up")
}

#[tokio::test]
async fn nobody_gets_past_a_holder_whose_slot_moves() {
    let (cluster, prefix) = (two_masters().await, unique_prefix());
    let (one, two) = (
        client(&cluster.url(), &prefix).await,
        client(&cluster.url(), &prefix).await,
    );
    let lock = one.rw_lock("moving").expect("a valid name");
    let other = two.rw_lock("moving").expect("a valid name");
    let slot = slot_of_lock(&prefix, "moving");
    let guard = lock.write().await.expect("free");

    let to = 1 - cluster.master_of(slot).await;
    let migration = cluster.begin_migration(slot, to).await;
    for moved in [false, true] {
        if moved {
            migration.move_all_keys().await;
        }
        assert!(other.try_write().await.expect("answered").is_none());
        for refused in [
            other.write_timeout(SHORT).await.map(drop),
            other.read_timeout(SHORT).await.map(drop),
        ] {
            guard.check().expect("the first one holds it all the time");
            let refused = refused.expect_err("another one holds it");
            assert_eq!(
                refused.kind(),
                ErrorKind::Timeout(TimeoutStep::Wait),
                "keys moved: {moved}; {refused}"
            );
        }
    }
    guard.release().await.expect("held to the end");
    let guard = other.write_timeout(scaled(SOON)).await.expect("free now");
    migration.finish().await;
    guard.release().await.expect("held to the end");
    wait_free(&lock).await;
}
