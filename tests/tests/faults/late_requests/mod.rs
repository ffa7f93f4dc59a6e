//! Requests that arrive long after the client that sent them has gone on: sent again, answered, and used.

mod matrix;

use std::time::Duration;

use dlock::{__internals::Script, WriteGuard};
use dlock_tests::{ProxiedLock, queue, request_of, scaled, wait_free, wait_waiters};

/// Longer than a process passes a hold on without asking.
const SLICE: Duration = Duration::from_millis(10);

/// A lock of which no hold ends by itself while a test runs.
async fn scene() -> ProxiedLock {
    ProxiedLock::start(|client| client.lease(scaled(Duration::from_secs(30)))).await
}

#[tokio::test]
async fn a_late_yield_leaves_the_hold_to_who_carried_on() {
    let scene = scene().await;
    let first = scene.lock.write().await.expect("free");
    let local = queue(&scene.lock);
    tokio::time::sleep(SLICE).await;
    scene.keep(Script::Yield, 1);
    first.release().await.expect("held to the end");
    // Sent again and answered: no other process waits.
    let guard = local.await.expect("no panic").expect("its turn");
    scene.wait_kept().await;
    let before = scene.state().await;
    assert_eq!(before.holders.len(), 1, "{before:?}");

    let elsewhere = queue(&scene.witness);
    wait_waiters(&scene.witness, 1).await;
    scene.deliver().await;
    let after = scene.state().await;
    assert_eq!(after.holders.len(), 1, "{after:?}");
    assert_eq!(after.holders[0].id, before.holders[0].id, "the same hold");
    assert!(!elsewhere.is_finished(), "two writers");
    guard.release().await.expect("held to the end");
    let guard = elsewhere.await.expect("no panic").expect("its turn");
    guard.release().await.expect("held to the end");
    wait_free(&scene.witness).await;
}

#[tokio::test]
async fn a_late_acquire_of_who_gave_up_takes_nothing() {
    let scene = scene().await;
    scene.keep(Script::Acquire, usize::MAX);
    let asking = queue(&scene.lock);
    scene.wait_kept().await;
    asking.abort();
    scene.pass();
    // What it has to take back is taken back.
    scene.client.shutdown().await.expect("nothing is held");
    scene.assert_free().await;
    scene.deliver().await;
    scene.assert_free().await;
}

#[tokio::test]
async fn a_late_copy_of_a_refused_try_takes_nothing() {
    let scene = scene().await;
    let held = scene.witness.write().await.expect("free");
    scene.keep(Script::Acquire, 1);
    let refused = scene.lock.try_write().await.expect("asked again");
    assert!(refused.is_none());
    held.release().await.expect("held to the end");
    scene.pass();
    scene.client.shutdown().await.expect("nothing is held");
    scene.deliver().await;
    scene.assert_free().await;
}

#[tokio::test]
async fn a_late_acquire_whose_time_was_up_takes_nothing() {
    let scene = scene().await;
    scene.keep(Script::Acquire, usize::MAX);
    let patience = Duration::from_millis(200);
    let error = scene.lock.write_timeout(patience).await;
    error.expect_err("it was never asked for");
    scene.pass();
    scene.client.shutdown().await.expect("nothing is held");
    scene.deliver().await;
    scene.assert_free().await;
}

#[tokio::test]
async fn a_late_acquire_of_who_gave_up_does_not_wait_in_line() {
    let scene = scene().await;
    let held = scene.witness.write().await.expect("free");
    scene.keep(Script::Acquire, usize::MAX);
    let asking = queue(&scene.lock);
    scene.wait_kept().await;
    asking.abort();
    scene.pass();
    late_and_alone(&scene, held).await;
}

#[tokio::test]
async fn a_late_heartbeat_of_who_gave_up_does_not_wait_in_line() {
    let scene = scene().await;
    let held = scene.witness.write().await.expect("free");
    let waiting = queue(&scene.lock);
    wait_waiters(&scene.witness, 1).await;
    scene.keep(Script::Acquire, usize::MAX);
    scene.wait_kept().await;
    waiting.abort();
    scene.pass();
    late_and_alone(&scene, held).await;
}

#[tokio::test]
async fn a_late_copy_of_an_acquire_does_not_take_the_lock_again() {
    let scene = scene().await;
    for reads in [false, true] {
        scene.keep(Script::Acquire, 1);
        let token = if reads {
            let guard = scene.lock.read().await.expect("sent again");
            let token = guard.fencing_token();
            guard.release().await.expect("held to the end");
            token
        } else {
            let guard = scene.lock.write().await.expect("sent again");
            let token = guard.fencing_token();
            guard.release().await.expect("held to the end");
            token
        };
        wait_free(&scene.witness).await;
        scene.deliver().await;
        scene.assert_free().await;
        let next = scene.lock.write().await.expect("free");
        assert!(next.fencing_token() > token);
        next.release().await.expect("held to the end");
    }
}

/// The hold had a `min_hold`, which is over by then.
#[tokio::test]
async fn a_late_copy_of_an_acquire_takes_nothing_after_a_min_hold() {
    let scene = scene().await;
    scene.keep(Script::Acquire, 1);
    let lock = scene.lock.clone().min_hold(Duration::from_millis(20));
    let guard = lock.write().await.expect("sent again");
    guard.release().await.expect("held to the end");
    wait_free(&scene.witness).await;
    late_and_busy(&scene).await;
}

/// Another client holds the lock by then.
#[tokio::test]
async fn a_late_copy_of_an_acquire_does_not_wait_in_line() {
    let scene = scene().await;
    scene.keep(Script::Acquire, 1);
    let guard = scene.lock.write().await.expect("sent again");
    guard.release().await.expect("held to the end");
    late_and_busy(&scene).await;
}

/// Another client has the lock when the request arrives.
async fn late_and_busy(scene: &ProxiedLock) {
    let held = scene.witness.write().await.expect("free");
    scene.deliver().await;
    let state = scene.state().await;
    assert_eq!(state.holders.len(), 1, "{state:?}");
    assert!(state.waiters.is_empty(), "nobody is there: {state:?}");
    held.release().await.expect("held to the end");
    scene.assert_free().await;
}

/// The client is gone when its request arrives: no waiter is behind this guard.
async fn late_and_alone(scene: &ProxiedLock, held: WriteGuard) {
    scene.client.shutdown().await.expect("nothing is held");
    scene.deliver().await;
    let state = scene.state().await;
    assert!(state.waiters.is_empty(), "nobody is there: {state:?}");
    held.release().await.expect("held to the end");
    scene.assert_free().await;
}

/// A place lasts longer than a short lease: it would keep others out until then.
#[tokio::test]
async fn a_place_that_was_given_up_is_given_back_for_as_long_as_it_lasts() {
    const SHORT: Duration = Duration::from_millis(200);
    let scene = ProxiedLock::start(|client| client.lease(SHORT).response_timeout(SHORT)).await;
    let held = scene.witness.write().await.expect("free");
    let waiting = queue(&scene.lock);
    wait_waiters(&scene.witness, 1).await;
    scene.proxy.mute_request(request_of(Script::Abandon), 1);
    scene.keep(Script::Abandon, 1);
    waiting.abort();
    // No answer came within the lease: it is sent again.
    scene.wait_kept().await;
    held.release().await.expect("held to the end");
}
