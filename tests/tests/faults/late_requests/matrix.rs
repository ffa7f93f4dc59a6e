//! Every request, sent again and answered, and its first copy delivered in every later state of the lock.

use std::time::Duration;

use dlock::{__internals::Script, LockInfo, WriteGuard};
use dlock_tests::{ProxiedLock, queue, wait_free, wait_waiters};

use crate::late_requests::{SLICE, scene};

/// What has become of the lock when the copy arrives.
#[derive(Clone, Copy, Debug)]
enum Later {
    Free,
    /// By the client that sent the copy, under another hold.
    HeldHere,
    HeldThere,
    /// Held here, with a waiter in the queue.
    WantedThere,
    /// Held there, and the client that sent the copy is in line.
    WantedHere,
}

const LATER: [Later; 5] = [
    Later::Free,
    Later::HeldHere,
    Later::HeldThere,
    Later::WantedThere,
    Later::WantedHere,
];

/// The holders and the waiters: what a late copy must not change.
fn gist(info: &LockInfo) -> String {
    let holders: Vec<_> = info
        .holders
        .iter()
        .map(|hold| (&hold.id, hold.mode, hold.token))
        .collect();
    let waiters: Vec<_> = info.waiters.iter().map(|waiter| &waiter.id).collect();
    format!("held by {holders:?}, wanted by {waiters:?}")
}

async fn release(guard: WriteGuard) {
    guard.release().await.expect("held to the end");
}

/// Brings about a copy, and the lock to each later state in turn.
async fn arrives_late(make: impl AsyncFn(&ProxiedLock)) {
    for later in LATER {
        let scene = scene().await;
        make(&scene).await;
        scene.wait_kept().await;
        scene.pass();
        wait_free(&scene.witness).await;
        let (mut held, mut waiting) = (None, None);
        match later {
            Later::Free => {}
            Later::HeldHere => held = Some(scene.lock.write().await),
            Later::HeldThere => held = Some(scene.witness.write().await),
            Later::WantedThere => {
                held = Some(scene.lock.write().await);
                waiting = Some(queue(&scene.witness));
            }
            Later::WantedHere => {
                held = Some(scene.witness.write().await);
                waiting = Some(queue(&scene.lock));
            }
        }
        wait_waiters(&scene.witness, usize::from(waiting.is_some())).await;
        let before = gist(&scene.state().await);
        scene.deliver().await;
        assert_eq!(gist(&scene.state().await), before, "{later:?}");
        if let Some(guard) = held {
            release(guard.expect("free")).await;
        }
        if let Some(waiting) = waiting {
            release(waiting.await.expect("no panic").expect("its turn")).await;
        }
        scene.assert_free().await;
    }
}

#[tokio::test]
async fn acquire() {
    arrives_late(async |scene| {
        scene.keep(Script::Acquire, 1);
        release(scene.lock.write().await.expect("sent again")).await;
    })
    .await;
}

/// By the script, as there is a waiter.
#[tokio::test]
async fn release_to_another() {
    arrives_late(async |scene| {
        let guard = scene.lock.write().await.expect("free");
        let next = queue(&scene.witness);
        wait_waiters(&scene.witness, 1).await;
        scene.keep(Script::Release, 1);
        release(guard).await;
        release(next.await.expect("no panic").expect("its turn")).await;
    })
    .await;
}

#[tokio::test]
async fn renew() {
    arrives_late(async |scene| {
        let lock = scene.lock.clone().lease(Duration::from_millis(600));
        let guard = lock.write().await.expect("free");
        scene.keep(Script::Renew, 1);
        scene.wait_kept().await;
        release(guard).await;
    })
    .await;
}

#[tokio::test]
async fn yield_to_nobody() {
    arrives_late(async |scene| {
        let guard = scene.lock.write().await.expect("free");
        let local = queue(&scene.lock);
        tokio::time::sleep(SLICE).await;
        scene.keep(Script::Yield, 1);
        release(guard).await;
        release(local.await.expect("no panic").expect("its turn")).await;
    })
    .await;
}

#[tokio::test]
async fn abandon() {
    arrives_late(async |scene| {
        let guard = scene.witness.write().await.expect("free");
        let waiting = queue(&scene.lock);
        wait_waiters(&scene.witness, 1).await;
        scene.keep(Script::Abandon, 1);
        waiting.abort();
        wait_waiters(&scene.witness, 0).await;
        release(guard).await;
    })
    .await;
}
