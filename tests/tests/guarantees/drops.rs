//! Ten thousand guards dropped at once.

use std::{sync::Arc, time::Duration};

use dlock_tests::{connect, shared_cluster, unique_prefix, wait_until};
use tokio::{sync::Semaphore, task::JoinSet};

const GUARDS: usize = 10_000;
/// A lock's last token is remembered until a second after its lease would have ended.
const LEASE: Duration = Duration::from_secs(20);
const FORGOTTEN: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_dropped_guards_leave_no_hold_and_in_the_end_no_key() {
    let cluster = shared_cluster().await;
    let prefix = unique_prefix();
    let client = connect(&cluster.url(), &prefix).await;
    let permits = Arc::new(Semaphore::new(100));
    let mut tasks = JoinSet::new();
    for number in 0..GUARDS {
        let lock = client.rw_lock(format!("lock:{number}")).expect("valid");
        let lock = lock.lease(LEASE);
        let permits = Arc::clone(&permits);
        tasks.spawn(async move {
            let _permit = permits.acquire().await.expect("never closed");
            lock.write().await.expect("free")
        });
    }
    let guards = tasks.join_all().await;
    let pattern = format!("{prefix}*");
    assert_eq!(cluster.keys(&pattern).await.len(), GUARDS);

    drop(guards);
    client.shutdown().await.expect("everything was given back");
    let other = connect(&cluster.url(), &prefix).await;
    for number in 0..GUARDS {
        let lock = other.rw_lock(format!("lock:{number}")).expect("valid");
        let info = lock.inspect().await.expect("the servers answer");
        assert!(info.holders.is_empty(), "lock:{number}: {info:?}");
    }
    wait_until(FORGOTTEN, "no key is left", || async {
        cluster.keys(&pattern).await.is_empty()
    })
    .await;
}
