//! Holds that go from task to task of a process: each task's is renewed, bounded and lost like any other.

use std::time::{Duration, Instant};

use dlock::{ErrorKind, LossReason, RwLock, WriteGuard};
use dlock_tests::{
    Direction, FaultProxy, RedisServer, builder, scaled, shared_server, unique_prefix, wait_until,
};
use tokio::task::JoinHandle;

/// Longer than a process keeps a hold without asking the server.
const SLICE: Duration = Duration::from_millis(20);

fn queue(lock: &RwLock) -> JoinHandle<WriteGuard> {
    let lock = lock.clone();
    tokio::spawn(async move { lock.write().await.expect("its turn") })
}

/// Waits until the server has granted the lock and a task of the same process stands behind its holder.
async fn begin(lock: &RwLock) -> (WriteGuard, JoinHandle<WriteGuard>) {
    let guard = lock.write().await.expect("free");
    let next = queue(lock);
    all_have_come().await;
    (guard, next)
}

/// A task that has not come yet gets the lock by a request of its own, and so shows nothing.
async fn all_have_come() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Hands the lock on after a slice, so that the server is asked whether others wait.
async fn hand_on_after_a_slice(guard: WriteGuard, next: JoinHandle<WriteGuard>) -> WriteGuard {
    let since = Instant::now();
    wait_until(SLICE * 100, "a slice is over", || async {
        since.elapsed() > SLICE
    })
    .await;
    drop(guard);
    next.await.expect("no panic")
}

#[tokio::test]
async fn a_hold_whose_renewal_was_due_while_the_server_was_asked_is_renewed_afterwards() {
    let proxy = FaultProxy::start(shared_server().await.addr());
    let lease = scaled(Duration::from_millis(1200));
    let client = builder(&proxy.url(), &unique_prefix())
        .lease(lease)
        .response_timeout(lease)
        .build();
    let client = client.await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let (guard, next) = begin(&lock).await;
    // A renewal is due after a third of the lease; the yield is answered after half of it.
    proxy.delay(Direction::ToClient, lease / 2);
    let guard = hand_on_after_a_slice(guard, next).await;
    proxy.pass();
    let since = Instant::now();
    wait_until(4 * lease, "two leases are over", || async {
        guard.check().expect("renewed");
        since.elapsed() > 2 * lease
    })
    .await;
}

#[tokio::test]
async fn a_loss_after_a_slice_is_noticed_at_the_next_renewal() {
    let server = RedisServer::start().await;
    let lease = scaled(Duration::from_secs(6));
    let client = builder(&server.url(), &unique_prefix()).lease(lease);
    let client = client.build().await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let (guard, next) = begin(&lock).await;
    let guard = hand_on_after_a_slice(guard, next).await;
    let since = Instant::now();
    server.query::<()>(&["FLUSHALL"]).await;
    guard.lost().await;
    assert!(since.elapsed() < lease * 2 / 3, "{:?}", since.elapsed());
    let error = guard.check().expect_err("removed");
    assert_eq!(error.kind(), ErrorKind::Lost(LossReason::Removed));
}

#[tokio::test]
async fn max_hold_bounds_each_task_that_is_handed_the_lock() {
    let lease = scaled(Duration::from_millis(600));
    let client = builder(&shared_server().await.url(), &unique_prefix()).lease(lease);
    let client = client.build().await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let lock = lock.max_hold(lease);
    let (guard, next) = begin(&lock).await;
    drop(guard);
    let guard = next.await.expect("no panic");
    let lost = tokio::time::timeout(10 * lease, guard.lost()).await;
    lost.expect("given up");
    let error = guard.check().expect_err("given up");
    assert_eq!(error.kind(), ErrorKind::Lost(LossReason::MaxHold));
}

/// A task that runs late, as those of a process do that was stopped after it heard of a grant.
#[tokio::test(flavor = "current_thread")]
async fn a_hold_that_ended_before_its_task_ran_is_asked_for_again() {
    let proxy = FaultProxy::start(shared_server().await.addr());
    let lease = scaled(Duration::from_millis(500));
    let client = builder(&proxy.url(), &unique_prefix()).lease(lease);
    let client = client.build().await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let stand_still = || {
        proxy.blackhole(Direction::ToServer);
        std::thread::sleep(lease);
        proxy.pass();
    };
    let (guard, next) = begin(&lock).await;
    let token = guard.fencing_token();
    drop(guard);
    stand_still();
    let guard = next.await.expect("no panic");
    guard.check().expect("a hold that goes on");
    assert!(guard.fencing_token() > token);

    // Unless its time to wait is over, too.
    let hasty = lock.clone();
    let next = tokio::spawn(async move { hasty.write_timeout(lease / 2).await });
    all_have_come().await;
    drop(guard);
    stand_still();
    let error = next.await.expect("no panic").expect_err("too late");
    assert!(error.is_lost(), "{error}");

    let guard = lock.write().await.expect("free");
    let reader = || async {
        let guard = lock.read().await.expect("its turn");
        let live = guard.check();
        stand_still();
        live
    };
    let release = async { guard.release().await.expect("held to the end") };
    let (one, two, ()) = tokio::join!(reader(), reader(), release);
    one.and(two).expect("holds that go on");
}
