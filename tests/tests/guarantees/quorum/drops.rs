//! Callers who go away.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::{sleep, timeout};

use crate::quorum::Members;

#[tokio::test]
async fn an_acquire_that_is_dropped_at_any_point_leaves_nothing() {
    let members = Members::new(5);
    let client = members.client().await;
    let lock = client.rw_lock("a").expect("ok");
    for polls in 1..40 {
        let mut acquire = Box::pin(lock.write());
        for _ in 0..polls {
            if acquire.as_mut().now_or_never().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(acquire);
        members.wait_nothing_left("a").await;
    }
}

#[tokio::test]
async fn a_dropped_guard_and_a_dropped_wait_leave_nothing() {
    let members = Members::new(5);
    let (one, two) = (members.client().await, members.client().await);
    let (one, two) = (one.rw_lock("a").expect("ok"), two.rw_lock("a").expect("ok"));
    let guard = one.write().await.expect("free");
    let waited = timeout(Duration::from_millis(100), two.read()).await;
    assert!(waited.is_err());
    drop(guard);
    members.wait_nothing_left("a").await;
}

#[tokio::test]
async fn a_shutdown_gives_everything_back_and_turns_waiters_away() {
    let members = Members::new(3);
    let (one, two) = (members.client().await, members.client().await);
    let guard = one.rw_lock("a").expect("ok").write().await.expect("free");
    let lock = two.rw_lock("a").expect("ok");
    let waiting = tokio::spawn(async move { lock.write().await });
    sleep(Duration::from_millis(100)).await;
    two.shutdown().await.expect("nothing is held");
    let error = waiting.await.expect("no panic").expect_err("turned away");
    assert!(error.is_closed(), "{error}");
    one.shutdown().await.expect("all is given back");
    assert!(guard.is_lost());
    members.wait_nothing_left("a").await;
}
