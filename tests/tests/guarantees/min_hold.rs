//! Locks that stay held for a while after their holder is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use dlock::{Client, Error, LockInfo, RwLock, distributed_lock};
use dlock_tests::{
    Worker, builder, connect, scaled, shared_cluster, stores, unique_prefix, wait_free, wait_until,
    wait_waiters,
};

const SOON: Duration = Duration::from_secs(20);
const MIN_HOLD: Duration = Duration::from_secs(2);
/// How much later than its end the end of a hold is seen, at most.
const LATE: Duration = Duration::from_millis(700);
/// How much later than the test's the hold's time began, at most.
const EARLY: Duration = Duration::from_millis(20);

/// How long the only hold will last.
fn left(info: &LockInfo) -> Duration {
    assert_eq!(info.holders.len(), 1, "{info:?}");
    info.holders[0].remaining
}

/// Waits for the lock, which has to come when the time is up that began then, and no sooner.
async fn comes_in_time(lock: &RwLock, began: Instant) {
    let guard = lock.write_timeout(scaled(SOON)).await.expect("free then");
    let waited = began.elapsed();
    assert!(waited + EARLY >= MIN_HOLD, "{waited:?}");
    assert!(waited < MIN_HOLD + scaled(LATE), "{waited:?}");
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn a_release_leaves_the_lock_held_until_the_time_is_up() {
    for url in stores().await {
        let prefix = unique_prefix();
        let (client, other) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        let names = ["short lease", "long lease", "dropped", "reading"];
        for (name, lease) in names.into_iter().zip([1, 600, 30, 30]) {
            let lock = client.rw_lock(name).expect("valid").min_hold(MIN_HOLD);
            let lock = lock.lease(Duration::from_secs(lease));
            let began = Instant::now();
            match name {
                "dropped" => drop(lock.write().await.expect("free")),
                "reading" => (lock.read().await.expect("free").release().await).expect("held"),
                _ => (lock.write().await.expect("free").release().await).expect("held"),
            }
            let other = other.rw_lock(name).expect("valid");
            comes_in_time(&other, began).await;
            wait_free(&other).await;
        }
    }
}

#[tokio::test]
async fn a_lock_held_for_longer_is_free_at_once() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let lock = client.rw_lock("one").expect("valid");
        let lock = lock.min_hold(Duration::from_millis(50));
        let guard = lock.write().await.expect("free");
        // The holder counts from when it was told, servers from when they answered.
        let told = Instant::now();
        wait_until(SOON, "it has been held for longer", || async {
            let info = lock.inspect().await.expect("answered");
            let longer = Duration::from_millis(50);
            info.holders[0].held_for > Some(longer) && told.elapsed() > longer
        })
        .await;
        guard.release().await.expect("held to the end");
        assert!(lock.try_write().await.expect("answered").is_some());
    }
}

#[tokio::test]
async fn waiters_of_the_same_process_wait_as_well() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let lock = client.rw_lock("one").expect("valid").min_hold(MIN_HOLD);
        let began = Instant::now();
        let guard = lock.write().await.expect("free");
        let plain = client.rw_lock("one").expect("valid");
        let waiting = tokio::spawn(async move { comes_in_time(&plain, began).await });
        tokio::task::yield_now().await;
        guard.release().await.expect("held to the end");
        assert!(lock.try_write().await.expect("answered").is_none());
        assert!(lock.try_read().await.expect("answered").is_none());
        waiting.await.expect("in time");
    }
}

/// However shortly before it the holder was done, which a waiter does not hear.
#[tokio::test]
async fn a_waiter_is_given_the_lock_at_the_end() {
    let hand_over = scaled(Duration::from_millis(100));
    // Waiters look by themselves after 1.4 s, and then after 2 s.
    let min_hold = Duration::from_millis(1500);
    for url in stores().await {
        let prefix = unique_prefix();
        let (client, other) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        for rest in [200, 50, 20, 1000].map(Duration::from_millis) {
            // A lock that a waiter found free by looking is looked at more often from then on.
            let name = format!("{rest:?}");
            let lock = client.rw_lock(&name).expect("valid").min_hold(min_hold);
            let guard = lock.write().await.expect("free");
            let ends = Instant::now() + min_hold;
            let waiting = tokio::spawn({
                let lock = other.rw_lock(&name).expect("valid");
                async move { lock.write().await.map(|guard| (Instant::now(), guard)) }
            });
            wait_waiters(&lock, 1).await;
            let working = ends.saturating_duration_since(Instant::now() + rest);
            tokio::time::sleep(working).await;
            guard.release().await.expect("held to the end");
            let (entered, guard) = waiting.await.expect("no panic").expect("granted");
            assert!(entered + EARLY >= ends, "{rest:?}");
            let late = entered.saturating_duration_since(ends);
            assert!(late < hand_over, "{rest:?}: {late:?}");
            guard.release().await.expect("held to the end");
        }
    }
}

#[distributed_lock(key = "nightly", client = client, wait = "none", min_hold = "20s", on_busy = Ok(()))]
async fn nightly(client: &Client, runs: &AtomicU32) -> Result<(), Error> {
    runs.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[tokio::test]
async fn a_short_job_runs_once_although_hosts_start_it_at_slightly_different_times() {
    for url in stores().await {
        let prefix = unique_prefix();
        let runs = Arc::new(AtomicU32::new(0));
        let mut hosts = Vec::new();
        for _ in 0..3 {
            let client = connect(&url, &prefix).await;
            nightly(&client, &runs).await.expect("run, or skipped");
            // The store in memory goes with its last client.
            hosts.push(client);
        }
        assert_eq!(runs.load(Ordering::Relaxed), 1, "{url}");
    }
}

#[distributed_lock(keys = ["a", "b"], client = client, wait = "none", min_hold = "60s", on_busy = Ok(false))]
async fn both(client: &Client) -> Result<bool, Error> {
    Ok(true)
}

/// Otherwise a job that found one of its locks taken would keep itself, and others, from the next try.
#[tokio::test]
async fn a_lock_under_which_nothing_ran_is_free_at_once() {
    for url in stores().await {
        let prefix = unique_prefix();
        let (client, other) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        let lock = |name| other.rw_lock(name).expect("valid");
        for (taken, free) in [("a", "b"), ("b", "a")] {
            let guard = lock(taken).write().await.expect("free");
            assert!(!both(&client).await.expect("skipped"));
            wait_free(&lock(free)).await;
            guard.release().await.expect("held to the end");
        }
        assert!(both(&client).await.expect("both are free"));
        for name in ["a", "b"] {
            assert!(lock(name).try_write().await.expect("answered").is_none());
        }
    }
}

#[tokio::test]
async fn the_lock_stays_held_after_the_end_of_the_process() {
    let (url, prefix) = (shared_cluster().await.url(), unique_prefix());
    let arguments = ["min-hold", &url, &prefix];
    let leaver = Worker::spawn(env!("CARGO_BIN_EXE_leaver"), arguments);
    leaver.wait_success(SOON).await;
    let client = connect(&url, &prefix).await;
    let lock = client.rw_lock("one").expect("valid");
    let left = left(&lock.inspect().await.expect("answered"));
    // The lock has a lease of minutes, and is to be held for ten seconds, and a moment longer without a release.
    assert!(
        left <= Duration::from_millis(10_200) && left > Duration::from_secs(1),
        "{left:?}"
    );
}

#[tokio::test]
async fn a_shutdown_keeps_to_it() {
    for url in stores().await {
        let prefix = unique_prefix();
        let client = connect(&url, &prefix).await;
        let lock = client.rw_lock("one").expect("valid").min_hold(MIN_HOLD);
        let began = Instant::now();
        let _guard = lock.write().await.expect("free");
        client.shutdown().await.expect("all is given back");
        let other = connect(&url, &prefix).await;
        comes_in_time(&other.rw_lock("one").expect("valid"), began).await;
    }
}

#[tokio::test]
async fn what_cannot_be_is_refused() {
    let builder = builder("memory://", &unique_prefix());
    let client = builder.build().await.expect("memory is there");
    let lock = client.rw_lock("one").expect("valid");
    for lock in [
        lock.clone().min_hold(Duration::from_secs(25 * 3600)),
        lock.clone()
            .max_hold(Duration::from_secs(60))
            .min_hold(Duration::from_secs(61)),
        lock.clone().min_hold(MIN_HOLD).owner("workflow-7"),
    ] {
        let error = lock.write().await.expect_err("it cannot be");
        assert!(error.is_invalid(), "{error}");
        assert!(error.to_string().contains("min_hold"), "{error}");
    }
}
