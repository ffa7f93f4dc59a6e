//! Clients of dlock among themselves: in order, told instead of polling; and the moments that they leave to others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dlock_tests::{RedisServer, connect, scaled, shared_server, unique_prefix, wait_until};

use crate::mutex::foreign::Foreign;

const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn clients_take_turns() {
    let (server, name) = (shared_server().await, unique_prefix());
    let counts: Vec<_> = (0..4).map(|_| Arc::new(AtomicUsize::new(0))).collect();
    let inside = Arc::new(AtomicUsize::new(0));
    let end = Instant::now() + scaled(Duration::from_secs(2));
    let mut tasks = Vec::new();
    for count in &counts {
        let client = connect(&server.url(), "dlock").await;
        let mutex = client.mutex(&name).expect("a valid name");
        let (count, inside) = (Arc::clone(count), Arc::clone(&inside));
        tasks.push(tokio::spawn(async move {
            while Instant::now() < end {
                let guard = mutex.lock().await.expect("its turn");
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "alone");
                tokio::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
                count.fetch_add(1, Ordering::SeqCst);
                guard.release().await.expect("held to the end");
            }
        }));
    }
    for task in tasks {
        task.await.expect("no panic");
    }
    let counts: Vec<_> = counts.iter().map(|n| n.load(Ordering::SeqCst)).collect();
    let (least, most) = (counts.iter().min(), counts.iter().max());
    assert!(least >= Some(&100), "{counts:?}");
    assert!(
        least.map(|least| least * 10) >= most.map(|most| most * 9),
        "{counts:?}"
    );
}

/// As redis-py polls, at its default.
const POLL: Duration = Duration::from_millis(100);

#[tokio::test]
async fn who_polls_gets_in_although_clients_pass_it_on_among_themselves() {
    let (server, name) = (shared_server().await, unique_prefix());
    let stop = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for _ in 0..3 {
        let client = connect(&server.url(), "dlock").await;
        let mutex = client.mutex(&name).expect("a valid name");
        let stop = Arc::clone(&stop);
        tasks.push(tokio::spawn(async move {
            let mut holds = 0;
            while stop.load(Ordering::SeqCst) == 0 {
                let guard = mutex.lock().await.expect("its turn");
                guard.release().await.expect("held to the end");
                holds += 1;
            }
            holds
        }));
    }
    let foreign = Foreign::new(&server.url(), &name).await;
    let began = Instant::now();
    let mut waits = Vec::new();
    while waits.len() < 6 {
        let since = Instant::now();
        while !foreign.acquire(LONG).await {
            assert!(began.elapsed() < scaled(LONG), "starved: {waits:?}");
            tokio::time::sleep(POLL).await;
        }
        waits.push(since.elapsed());
        assert!(foreign.release().await);
        tokio::time::sleep(POLL).await;
    }
    stop.store(1, Ordering::SeqCst);
    for task in tasks {
        assert!(task.await.expect("no panic") > 2);
    }
}

/// As long as a process may have a mutex, from task to task, without leaving it free.
const BUDGET: Duration = Duration::from_secs(5);

#[tokio::test]
async fn who_polls_gets_in_although_one_process_passes_it_on_among_its_tasks() {
    let (server, name) = (shared_server().await, unique_prefix());
    let client = connect(&server.url(), "dlock").await;
    let begun = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for _ in 0..3 {
        let mutex = client.mutex(&name).expect("a valid name");
        let begun = Arc::clone(&begun);
        tasks.push(tokio::spawn(async move {
            let guard = mutex.lock().await.expect("its turn");
            begun.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(BUDGET).await;
            guard.release().await.expect("held to the end");
        }));
    }
    wait_until(LONG, "a task has it", || async {
        begun.load(Ordering::SeqCst) == 1
    })
    .await;
    let foreign = Foreign::new(&server.url(), &name).await;
    while !foreign.acquire(LONG).await {
        tokio::time::sleep(POLL).await;
    }
    assert!(begun.load(Ordering::SeqCst) < 3, "all tasks were first");
    assert!(foreign.release().await);
    for task in tasks {
        task.await.expect("no panic");
    }
}

/// Longer than a client takes a lock for contended after it has met another.
const CROWDED: Duration = Duration::from_secs(6);

/// A plain `SET` knows no line, and a server without memory refuses it.
#[tokio::test]
async fn who_waits_long_goes_on_to_ask_for_its_place() {
    let server = RedisServer::start().await;
    let name = unique_prefix();
    let foreign = Foreign::new(&server.url(), &name).await;
    assert!(foreign.acquire(scaled(LONG)).await);
    let client = connect(&server.url(), "dlock").await;
    let mutex = client.mutex(&name).expect("a valid name");
    let waiting = tokio::spawn(async move { mutex.lock().await });
    let seen = client.mutex(&name).expect("a valid name");
    wait_until(LONG, "somebody waits", || async {
        !seen.inspect().await.expect("answered").waiters.is_empty()
    })
    .await;
    let before = sets(&server).await;
    for (setting, value) in [("maxmemory-policy", "noeviction"), ("maxmemory", "1")] {
        server.query::<()>(&["CONFIG", "SET", setting, value]).await;
    }
    tokio::time::sleep(CROWDED).await;
    assert!(!waiting.is_finished(), "{:?}", waiting.await);
    assert_eq!(sets(&server).await, before);
    assert!(foreign.release().await);
    let guard = tokio::time::timeout(scaled(LONG), waiting).await;
    let guard = guard.expect("soon").expect("no panic").expect("its turn");
    guard.release().await.expect("held to the end");
}

/// How many `SET` the server was asked for, in scripts or not.
async fn sets(server: &RedisServer) -> u64 {
    server.command_stats().await.calls("set")
}

/// Where no client may publish, a release leaves the mutex to the first in the queue, which looks now and then; it is
/// not there for who has just had it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_releases_does_not_take_it_past_those_who_wait_and_cannot_be_told() {
    const HOLD: Duration = Duration::from_millis(300);
    let server = RedisServer::start().await;
    let user = [
        "ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-publish",
    ];
    server.query::<()>(&user).await;
    // Redis 6.2 does not know it.
    let _ = server
        .command(&["ACL", "SETUSER", "app", "-spublish"])
        .await;
    let url = server.url().replacen("redis://", "redis://app:secret@", 1);
    let name = unique_prefix();
    let (busy, patient) = (connect(&url, "dlock").await, connect(&url, "dlock").await);
    let busy = busy.mutex(&name).expect("a valid name");
    let patient = patient.mutex(&name).expect("a valid name");
    let taking = tokio::spawn(async move {
        loop {
            let guard = busy.lock().await.expect("its turn");
            tokio::time::sleep(HOLD).await;
            guard.release().await.expect("held to the end");
        }
    });
    for round in 0..2 {
        tokio::time::sleep(HOLD / 2).await;
        let guard = tokio::time::timeout(5 * HOLD, patient.lock()).await;
        let guard = guard.unwrap_or_else(|_| panic!("passed over in round {round}"));
        guard
            .expect("free")
            .release()
            .await
            .expect("held to the end");
        // By then the other has forgotten that it had company.
        tokio::time::sleep(CROWDED).await;
    }
    taking.abort();
}

/// A look may come between any two moments of the server's.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_gets_in_before_a_min_hold_is_over_however_many_look() {
    let server = RedisServer::start().await;
    let end = Instant::now() + Duration::from_secs(15);
    let client = connect(&server.url(), "dlock").await;
    let mut tasks = Vec::new();
    for _ in 0..6 {
        let name = unique_prefix();
        let mutex = client.mutex(&name).expect("a valid name").min_hold(LONG);
        let guard = mutex.lock().await.expect("free");
        guard.release().await.expect("held to the end");
        for _ in 0..3 {
            let other = connect(&server.url(), "dlock").await;
            let other = other.mutex(&name).expect("a valid name");
            tasks.push(tokio::spawn(async move {
                while Instant::now() < end {
                    let got = other.try_lock().await.expect("answered");
                    assert!(got.is_none(), "before its end");
                }
            }));
        }
    }
    for task in tasks {
        task.await.expect("no panic");
    }
}
