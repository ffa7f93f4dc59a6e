//! Holders that die, and holders that sleep through their lease.

use std::time::{Duration, Instant};

use dlock_tests::{
    SOON, Worker, connect, scaled, shared_cluster, unique_prefix, wait_for, wait_free, wait_until,
    wait_waiters,
};
use tokio::task::JoinSet;

const LEASE: Duration = Duration::from_secs(1);

/// A process that does `mode` on the lock called `one`.
async fn start(mode: &str, prefix: &str, extra: &[String]) -> Worker {
    let mut arguments = vec![
        mode.to_owned(),
        format!("url={}", shared_cluster().await.url()),
        format!("prefix={prefix}"),
        "lock=one".to_owned(),
        format!("lease_ms={}", LEASE.as_millis()),
    ];
    arguments.extend_from_slice(extra);
    Worker::spawn(env!("CARGO_BIN_EXE_worker"), arguments)
}

/// The token that a `read` or `write` process holds with.
async fn token_of(worker: &Worker) -> u64 {
    wait_for(SOON, "the process holds the lock", || async {
        let output = worker.output();
        let token = output
            .lines()
            .find_map(|line| line.strip_prefix("holding "));
        token.map(|token| token.parse().expect("a token"))
    })
    .await
}

async fn wait_line(worker: &Worker, line: &str) {
    wait_until(SOON, &format!("the process says {line:?}"), || async {
        worker.output().lines().any(|said| said == line)
    })
    .await;
}

#[tokio::test]
async fn a_killed_writer_keeps_the_lock_for_its_lease_at_most() {
    let prefix = unique_prefix();
    let worker = start("write", &prefix, &[]).await;
    let token = token_of(&worker).await;
    let client = connect(&shared_cluster().await.url(), &prefix).await;
    let lock = client.rw_lock("one").expect("a valid name");
    assert!(lock.try_write().await.expect("answered").is_none());

    worker.kill();
    let killed = Instant::now();
    let guard = lock.write_timeout(scaled(SOON)).await.expect("free soon");
    let waited = killed.elapsed();
    assert!(waited < LEASE + scaled(LEASE), "after {waited:?}");
    assert!(guard.fencing_token().as_u64() > token);
    guard.release().await.expect("held to the end");
    wait_free(&lock).await;
}

#[tokio::test]
async fn a_killed_reader_does_not_live_on_in_others_who_renew() {
    let prefix = unique_prefix();
    let killed = start("read", &prefix, &[]).await;
    let living = start("read", &prefix, &[]).await;
    token_of(&killed).await;
    token_of(&living).await;
    let client = connect(&shared_cluster().await.url(), &prefix).await;
    let lock = client.rw_lock("one").expect("a valid name");
    assert_eq!(lock.inspect().await.expect("answered").holders.len(), 2);

    killed.kill();
    let start = Instant::now();
    wait_until(SOON, "its hold ends", || async {
        lock.inspect().await.expect("answered").holders.len() == 1
    })
    .await;
    let waited = start.elapsed();
    assert!(waited < LEASE + scaled(LEASE), "after {waited:?}");
    // The other one has renewed meanwhile, and goes on.
    let three_leases = lock.write_timeout(3 * LEASE).await;
    assert!(three_leases.expect_err("somebody reads").is_timeout());
    assert!(!living.output().contains("lost"), "{}", living.output());

    living.kill();
    let start = Instant::now();
    let guard = lock.write_timeout(scaled(SOON)).await.expect("free soon");
    let waited = start.elapsed();
    assert!(waited < LEASE + scaled(LEASE), "after {waited:?}");
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn a_killed_waiter_delays_nobody_for_long() {
    let prefix = unique_prefix();
    let client = connect(&shared_cluster().await.url(), &prefix).await;
    let lock = client.rw_lock("one").expect("a valid name");
    let guard = lock.write().await.expect("free");
    let waiting = start("write", &prefix, &[]).await;
    wait_waiters(&lock, 1).await;
    waiting.kill();
    guard.release().await.expect("held to the end");
    let start = Instant::now();
    let guard = lock.read_timeout(scaled(SOON)).await.expect("free soon");
    let waited = start.elapsed();
    // A place in the line lasts three seconds, and a cluster without sharded channels cannot tell who hears.
    assert!(waited < scaled(Duration::from_secs(4)), "after {waited:?}");
    guard.release().await.expect("held to the end");
    wait_free(&lock).await;
}

#[tokio::test]
async fn a_holder_that_slept_too_long_knows_it_and_frees_nothing() {
    let prefix = unique_prefix();
    let sleeper = start("write", &prefix, &[]).await;
    let old = token_of(&sleeper).await;
    let client = connect(&shared_cluster().await.url(), &prefix).await;
    let lock = client.rw_lock("one").expect("a valid name");

    sleeper.pause();
    let guard = lock.write_timeout(scaled(SOON)).await.expect("free soon");
    assert!(guard.fencing_token().as_u64() > old);
    sleeper.resume();
    wait_line(&sleeper, "lost").await;
    wait_line(&sleeper, "release failed: Lost(Expired)").await;

    // Its release and renewals have not touched the new hold.
    let info = lock.inspect().await.expect("answered");
    assert_eq!(info.holders.len(), 1);
    assert_eq!(info.holders[0].token, Some(guard.fencing_token()));
    guard.check().expect("still held");
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn a_body_that_slept_too_long_does_nothing_more() {
    // Several, as it could be chance which timer fires first when a process runs again.
    let mut rounds = JoinSet::new();
    for _ in 0..4 {
        rounds.spawn(stop_a_sleeping_body());
    }
    rounds.join_all().await;
}

async fn stop_a_sleeping_body() {
    let prefix = unique_prefix();
    let ticks = std::env::temp_dir().join(format!("{prefix}.ticks"));
    let count = || std::fs::read(&ticks).map_or(0, |text| text.len());
    let extra = [format!("ticks={}", ticks.display())];
    let sleeper = start("annotated", &prefix, &extra).await;
    let client = connect(&shared_cluster().await.url(), &prefix).await;
    let lock = client.rw_lock("one").expect("a valid name");
    wait_until(SOON, "the body is at work", || async { count() > 0 }).await;

    sleeper.pause();
    let before = count();
    let guard = lock.write_timeout(scaled(SOON)).await.expect("free soon");
    sleeper.resume();
    wait_line(&sleeper, "stopped: Lost(Expired)").await;
    assert_eq!(count(), before, "it wrote after SIGCONT");
    guard.check().expect("still held");
    guard.release().await.expect("held to the end");
    std::fs::remove_file(&ticks).expect("the ticks can be removed");
}
