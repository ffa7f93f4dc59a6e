//! What a crowd costs the server: each does its part once, however many others there are.

use std::time::Duration;

use dlock::{Client, RwLock};
use dlock_tests::{RedisServer, builder, queue, scaled, wait_for, wait_free, wait_waiters};
use futures_util::future::{join_all, try_join_all};

const LEASE: Duration = Duration::from_secs(60);
/// Enough for a crowd to get through, on a busy machine.
const LONG: Duration = Duration::from_secs(60);
/// Several times what a crowd costs whose members each cost the same, a fraction of what it costs if each pays for all.
const LINEAR: Duration = Duration::from_secs(1);

async fn lock(server: &RedisServer) -> (Client, RwLock) {
    let builder = builder(&server.url(), "dlock").lease(scaled(LEASE));
    let (timeout, retry_for) = (Duration::from_secs(5), Duration::from_secs(10));
    let client = builder
        .response_timeout(scaled(timeout))
        .retry_for(scaled(retry_for));
    let client = client.build().await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    (client, lock)
}

/// One lock for so many clients that do not share a hold: each has a hold of its own on the server, in one process.
fn crowd(lock: &RwLock, count: usize) -> Vec<RwLock> {
    let own = |number: usize| lock.clone().owner(format!("o{number}"));
    (0..count).map(own).collect()
}

/// The processor time that the server has used so far: not that of the clock, as other things on the machine take
/// turns with it.
async fn cpu_time(server: &RedisServer) -> Duration {
    let info = server.info("cpu").await.expect("it answers");
    let used = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let counts = ["used_cpu_sys", "used_cpu_user"].contains(&name);
        counts.then(|| value.trim().parse::<f64>().expect("seconds"))
    };
    Duration::from_secs_f64(info.lines().filter_map(used).sum())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_leave_cost_the_same_while_a_writer_waits() {
    const READERS: usize = 2000;
    let server = RedisServer::start().await;
    let (_readers, lock) = self::lock(&server).await;
    let (_writer, writer) = self::lock(&server).await;
    let crowd = crowd(&lock, READERS);
    let guards = try_join_all(crowd.iter().map(RwLock::read)).await;
    let guards = guards.expect("readers share");
    let waiting = queue(&writer);
    wait_waiters(&lock, 1).await;

    let before = cpu_time(&server).await;
    for released in join_all(guards.into_iter().map(dlock::ReadGuard::release)).await {
        released.expect("held to the end");
    }
    let guard = tokio::time::timeout(scaled(LONG), waiting).await;
    let guard = guard.expect("soon").expect("no panic").expect("its turn");
    let took = cpu_time(&server).await.saturating_sub(before);
    println!("{READERS} readers left in {took:?} of the server's time");
    guard.release().await.expect("held to the end");
    wait_free(&lock).await;
    assert!(took < LINEAR, "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_phase_of_readers_is_told_once_each() {
    const READERS: usize = 1000;
    let server = RedisServer::start().await;
    let (_readers, lock) = self::lock(&server).await;
    let (_writer, writer) = self::lock(&server).await;
    let guard = writer.write().await.expect("free");
    let phase = crowd(&lock, READERS).into_iter().map(|lock| {
        tokio::spawn(async move {
            // They leave as they come, so that some are gone before others are in.
            let guard = lock.read().await?;
            guard.release().await
        })
    });
    let phase: Vec<_> = phase.collect();
    wait_places(&server, &lock, READERS).await;

    server.query::<()>(&["CONFIG", "RESETSTAT"]).await;
    let before = cpu_time(&server).await;
    guard.release().await.expect("held to the end");
    let ended = tokio::time::timeout(scaled(LONG), join_all(phase)).await;
    for reader in ended.expect("soon") {
        reader.expect("no panic").expect("its turn");
    }
    let stats = server.command_stats().await;
    let told = stats.calls("publish") + stats.calls("spublish");
    let took = cpu_time(&server).await.saturating_sub(before);
    println!("{READERS} readers were told {told} times, in {took:?} of the server's time");
    wait_free(&lock).await;
    assert!(told <= READERS as u64 + 50, "{told} messages");
    assert!(took < LINEAR, "{took:?}");
}

/// Waits until all have asked for a place; `inspect` lists only the first of many.
async fn wait_places(server: &RedisServer, lock: &RwLock, count: usize) {
    wait_for(LONG, "all have asked", || async {
        let waiters = lock.inspect().await.expect("answered").waiters.len();
        // Heartbeats ask again, so that there may be more, and never fewer.
        let asked = server.command_stats().await.calls("evalsha");
        let asked = usize::try_from(asked).expect("a small number");
        (waiters == count || waiters >= 100 && asked > 3 * count).then_some(())
    })
    .await;
}
