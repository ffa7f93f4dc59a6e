//! What a renewal is worth: the answers of a majority, from when it was sent.

use std::time::{Duration, Instant};

use dlock_tests::Direction;
use tokio::time::sleep;

use crate::quorum_servers::{Proxied, Servers};

/// The answers of two of five, and silence, are no majority, however long the others had the hold.
#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_is_not_answered_does_not_count() {
    let lease = Duration::from_secs(6);
    let five = Servers::start(5).await;
    let client = five.builder().lease(lease).build().await.expect("there");
    let lock = client.rw_lock("a").expect("ok");
    let guard = lock.write().await.expect("free");
    // Before the first renewal.
    for frozen in 0..3 {
        five.servers[frozen].pause();
    }
    let begun = Instant::now();
    guard.lost().await;
    // A third of the lease later is when a renewal would have ended it.
    assert!(begun.elapsed() < lease + lease / 4, "{:?}", begun.elapsed());
}

/// The rest of a lease counts from when its renewal was sent, not from when that was answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_counts_from_when_it_was_sent() {
    let (lease, delay) = (Duration::from_secs(20), Duration::from_millis(300));
    let proxied = Proxied::start().await;
    let client = proxied.builder().lease(lease).build().await;
    let lock = client.expect("they are there").rw_lock("a").expect("ok");
    let guard = lock.write().await.expect("free");
    for proxy in &proxied.proxies {
        proxy.delay(Direction::ToClient, delay);
    }
    let mut before = guard.lease_left();
    let renewed = loop {
        sleep(Duration::from_millis(2)).await;
        let left = guard.lease_left();
        if left > before {
            break left;
        }
        before = left;
    };
    let most = (99 * lease / 100).saturating_sub(delay);
    assert!(renewed <= most, "{renewed:?} of {lease:?} are left");
    assert!(renewed > lease / 2, "{renewed:?}");
}
