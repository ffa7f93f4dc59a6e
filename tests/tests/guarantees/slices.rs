//! Holds that go from task to task of a process: each task's is renewed, bounded and lost like any other.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use dlock::{ErrorKind, LossReason, RwLock, WriteGuard};
use dlock_tests::{
    Direction, FaultProxy, Impostor, RedisServer, builder, connect, scaled, shared_server,
    unique_prefix, wait_until,
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

/// How often a future is still polled; and what wakes it then.
type Polls = Arc<Mutex<(usize, Option<Waker>)>>;

/// A future that stands still after so many polls, as in a process that is stopped while its connections go on.
fn polled<F: Future>(polls: &Polls, future: F) -> impl Future<Output = F::Output> + use<F> {
    let (polls, mut future) = (Arc::clone(polls), Box::pin(future));
    poll_fn(move |context| {
        let mut left = polls.lock().expect("no panic");
        let Some(fewer) = left.0.checked_sub(1) else {
            left.1 = Some(context.waker().clone());
            return Poll::Pending;
        };
        left.0 = fewer;
        drop(left);
        future.as_mut().poll(context)
    })
}

/// It stands still no longer.
fn go_on(polls: &Polls) {
    let mut left = polls.lock().expect("no panic");
    left.0 = usize::MAX;
    left.1.take().expect("it was woken").wake();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_was_removed_after_its_next_slice_had_begun_is_asked_for_again() {
    let server = RedisServer::start().await;
    let impostor = Impostor::start(server.addr(), |_| None);
    let (lease, prefix) = (scaled(Duration::from_secs(1)), unique_prefix());
    let client = builder(&impostor.url(), &prefix).lease(lease);
    let client = client.build().await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let guard = lock.write().await.expect("free");
    let polls = Polls::new(Mutex::new((usize::MAX, None)));
    let waiter = lock.clone();
    let next = polled(&polls, async move { waiter.write().await });
    let next = tokio::spawn(next);
    wait_until(SLICE * 100, "it waits", || async {
        polls.lock().expect("no panic").0 < usize::MAX
    })
    .await;
    let since = Instant::now();
    wait_until(SLICE * 100, "a slice is over", || async {
        since.elapsed() > SLICE
    })
    .await;

    // The next task asks the server for another slice, and does not see the answer yet.
    let key = lock.key().as_str();
    let token = async || server.query::<String>(&["HGET", key, "t"]).await;
    let first = token().await;
    polls.lock().expect("no panic").0 = 1;
    drop(guard);
    wait_until(lease, "another slice", || async { token().await != first }).await;
    server.query::<()>(&["DEL", key]).await;
    let other = connect(&server.url(), &prefix).await;
    let other = other.rw_lock("one").expect("a valid name");
    let other = other.write().await.expect("free");
    let asked = impostor.count("EVALSHA");
    // The second renewal waits for the answer to the first.
    wait_until(4 * lease, "renewals", || async {
        impostor.count("EVALSHA") > asked + 1
    })
    .await;
    go_on(&polls);

    wait_until(lease, "it waits in line", || async {
        next.is_finished()
            || lock
                .inspect()
                .await
                .expect("the server is up")
                .waiter_count()
                > 0
    })
    .await;
    assert!(!next.is_finished(), "another client holds the lock");
    let token = other.fencing_token();
    other.release().await.expect("held to the end");
    let guard = next.await.expect("no panic").expect("its turn");
    assert!(guard.fencing_token() > token);
}
