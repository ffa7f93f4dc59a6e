//! A free lock is forgotten soon, however long it might have been held.

use std::time::Duration;

use dlock::{MAX_LEASE, RwLock};
use dlock_tests::{connect, queue, shared_server, unique_prefix, wait_free};

/// How long its last token is remembered, at most.
const MINUTE: Duration = Duration::from_millis(61_002);
const SHORT: Duration = Duration::from_secs(30);

/// One lock with the longest lease and with an ordinary one.
async fn locks() -> (RwLock, RwLock) {
    let (url, prefix) = (shared_server().await.url(), unique_prefix());
    let lock = async |lease| {
        let client = connect(&url, &prefix).await;
        client.rw_lock("one").expect("a valid name").lease(lease)
    };
    (lock(MAX_LEASE).await, lock(SHORT).await)
}

/// How long the server keeps the key; nothing if it is gone.
async fn kept(lock: &RwLock) -> Duration {
    wait_free(lock).await;
    let server = shared_server().await;
    let left: i64 = server.query(&["PTTL", lock.key().as_str()]).await;
    assert_ne!(left, -1, "it stays for ever");
    Duration::from_millis(u64::try_from(left).unwrap_or_default())
}

#[tokio::test]
async fn after_a_hold_with_a_long_lease() {
    let (long, _) = locks().await;
    let guard = long.write().await.expect("free");
    guard.release().await.expect("held to the end");
    let kept = kept(&long).await;
    assert!(kept <= MINUTE, "{kept:?}");
}

#[tokio::test]
async fn after_holds_with_long_and_short_leases() {
    for long_first in [false, true] {
        let (long, short) = locks().await;
        let (one, two) = (
            long.read().await.expect("free"),
            short.read().await.expect("readers share"),
        );
        let (first, last) = if long_first { (one, two) } else { (two, one) };
        first.release().await.expect("held to the end");
        last.release().await.expect("held to the end");
        let kept = kept(&long).await;
        assert!(kept <= MINUTE, "long first: {long_first}, {kept:?}");
    }
}

#[tokio::test]
async fn after_a_short_hold_that_followed_a_long_one() {
    let (long, short) = locks().await;
    let guard = long.write().await.expect("free");
    let waiting = queue(&short);
    dlock_tests::wait_waiters(&long, 1).await;
    guard.release().await.expect("held to the end");
    let guard = waiting.await.expect("no panic").expect("its turn");
    guard.release().await.expect("held to the end");
    let kept = kept(&long).await;
    assert!(kept <= MINUTE, "{kept:?}");
}
