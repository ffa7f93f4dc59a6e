//! A server that has run out of memory and may not evict: who holds or waits does not notice.
//!
//! `DLOCK_FULL_SECS` is how long that lasts.

use std::time::{Duration, Instant};

use dlock::{Client, RwLock, WriteGuard};
use dlock_tests::{RedisServer, builder, its_turn, queue, wait_free, wait_waiters};
use futures_util::future::join_all;

const LEASE: Duration = Duration::from_secs(1);
const HOLDS: usize = 1000;
/// Locks with a waiter each.
const CONTENDED: usize = 20;
/// Longer than a process passes a hold on without asking.
const SLICE: Duration = Duration::from_millis(10);

async fn client(server: &RedisServer) -> Client {
    let client = builder(&server.url(), "dlock").lease(LEASE).build().await;
    client.expect("the server is up")
}

fn named(client: &Client, name: impl std::fmt::Display) -> RwLock {
    client.rw_lock(name.to_string()).expect("a valid name")
}

/// Far below the memory in use, so that no release makes room.
async fn run_out(server: &RedisServer) {
    set_limit(server, "1").await;
    let refused = server.command(&["SET", "filler", "x"]).await;
    let refused = refused.expect_err("there is no room");
    assert_eq!(refused.code(), Some("OOM"), "{refused}");
}

async fn set_limit(server: &RedisServer, limit: &str) {
    for (setting, value) in [("maxmemory-policy", "noeviction"), ("maxmemory", limit)] {
        server.query::<()>(&["CONFIG", "SET", setting, value]).await;
    }
}

async fn places(locks: &[RwLock]) -> Vec<Vec<String>> {
    let places = locks.iter().map(async |lock| {
        let info = lock.inspect().await.expect("answered");
        info.waiters.into_iter().map(|waiter| waiter.id).collect()
    });
    join_all(places).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn holds_and_places_outlast_memory() {
    let seconds = std::env::var("DLOCK_FULL_SECS").map_or(4, |text| text.parse().expect("seconds"));
    let server = RedisServer::start().await;
    let (holder, one, two) = (
        client(&server).await,
        client(&server).await,
        client(&server).await,
    );
    let locks: Vec<RwLock> = (0..HOLDS).map(|number| named(&holder, number)).collect();
    let guards = join_all(locks.iter().map(RwLock::write)).await;
    let mut guards: Vec<WriteGuard> = guards
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("all are free");
    let mut waiting = Vec::new();
    for (number, lock) in locks.iter().enumerate().take(CONTENDED) {
        // One after the other, so that the order is known.
        let first = queue(&named(&one, number));
        wait_waiters(lock, 1).await;
        let second = queue(&named(&two, number));
        wait_waiters(lock, 2).await;
        waiting.push((first, second));
    }
    let before = places(&locks[..CONTENDED]).await;

    run_out(&server).await;
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) {
        let lost = guards.iter().filter(|guard| guard.is_lost()).count();
        assert_eq!(lost, 0, "of {HOLDS} after {:?}", start.elapsed());
        tokio::time::sleep(LEASE / 10).await;
    }
    assert_eq!(places(&locks[..CONTENDED]).await, before, "who waits where");

    // The locks without waiters first: they are free at once.
    for guard in guards.drain(CONTENDED..) {
        guard.release().await.expect("held to the end");
    }
    for (guard, (first, second)) in guards.into_iter().zip(waiting) {
        guard.release().await.expect("held to the end");
        for waiter in [first, second] {
            let guard = its_turn(waiter).await;
            guard.release().await.expect("held to the end");
        }
    }
    for lock in &locks {
        wait_free(lock).await;
    }
}

#[tokio::test]
async fn a_process_passes_a_hold_on_when_memory_has_run_out() {
    let server = RedisServer::start().await;
    let (here, there) = (client(&server).await, client(&server).await);
    let (hold, elsewhere) = (named(&here, "one"), named(&there, "one"));
    // To its own next task while no other process waits, and then to the process that does.
    let guard = hold.write().await.expect("free");
    let (token, local) = (guard.fencing_token(), queue(&hold));
    tokio::time::sleep(SLICE).await;
    run_out(&server).await;
    guard.release().await.expect("held to the end");
    let guard = its_turn(local).await;
    assert!(guard.fencing_token() > token);

    set_limit(&server, "0").await;
    let next = queue(&elsewhere);
    wait_waiters(&hold, 1).await;
    let local = queue(&hold);
    tokio::time::sleep(SLICE).await;
    run_out(&server).await;
    guard.release().await.expect("held to the end");
    let guard = its_turn(next).await;
    // The first waiter of each process takes a queue position, for which there has to be memory.
    set_limit(&server, "0").await;
    guard.release().await.expect("held to the end");
    local.abort();
    wait_free(&elsewhere).await;
}
