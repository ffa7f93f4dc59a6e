//! Free windows are for programs that poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use dlock_tests::{RedisServer, SOON, connect, unique_prefix, wait_until};

use crate::mutex::foreign::Foreign;

const LONG: Duration = Duration::from_secs(30);
/// As redis-py polls, at its default.
const POLL: Duration = Duration::from_millis(100);

/// A field of the hash beside a mutex.
async fn noted(server: &RedisServer, name: &str, field: &str) -> Option<String> {
    let key = format!("dlock~m:{{{name}}}");
    let value: Option<String> = server.query(&["HGET", &key, field]).await;
    value.filter(|value| !value.is_empty())
}

/// It knows of no line, and has had no answer about this mutex yet.
#[tokio::test]
async fn a_client_that_comes_anew_takes_no_moment_that_is_left_to_others() {
    let (server, name) = (RedisServer::start().await, unique_prefix());
    let mut moments = 0;
    for _ in 0..6 {
        let foreign = Foreign::new(&server.url(), &name).await;
        let [first, second, anew] = [
            connect(&server.url(), "dlock").await,
            connect(&server.url(), "dlock").await,
            connect(&server.url(), "dlock").await,
        ]
        .map(|client| client.mutex(&name).expect("a valid name"));
        assert!(foreign.acquire(LONG).await);
        let (inside, go) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let waiting = [first.clone(), second].map(|mutex| {
            let (inside, go) = (Arc::clone(&inside), Arc::clone(&go));
            tokio::spawn(async move {
                let guard = mutex.lock().await.expect("its turn");
                inside.fetch_add(1, Ordering::SeqCst);
                while !go.load(Ordering::SeqCst) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                guard.release().await.expect("held to the end");
            })
        });
        wait_until(SOON, "both wait", || async {
            first.inspect().await.expect("answered").waiters.len() == 2
        })
        .await;
        assert!(foreign.release().await);
        wait_until(SOON, "one has it", || async {
            inside.load(Ordering::SeqCst) == 1
        })
        .await;
        // For longer than the least that moments are apart.
        tokio::time::sleep(Duration::from_millis(100)).await;
        go.store(true, Ordering::SeqCst);
        wait_until(SOON, "it is given back", || async {
            foreign.value().await.is_none() || inside.load(Ordering::SeqCst) == 2
        })
        .await;
        let began = noted(&server, &name, "q").await.is_some();
        moments += usize::from(began);
        let taken = anew.try_lock().await.expect("answered");
        assert!(taken.is_none() || !began, "it was left to others");
        drop(taken);
        for waiting in waiting {
            waiting.await.expect("no panic");
        }
        wait_until(SOON, "it is free", || async {
            foreign.value().await.is_none()
        })
        .await;
    }
    assert!(moments > 2, "{moments} moments");
}

/// How many moments one who polls every 100 ms may miss: 150 ms are enough for certain where tasks and servers run when they
/// ought to.
const MISSED: usize = 3;

/// `dlock run --mutex` in a loop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_polls_gets_in_beside_clients_that_come_take_it_once_and_go() {
    let (server, name) = (RedisServer::start().await, unique_prefix());
    let stop = Arc::new(AtomicBool::new(false));
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let (url, name, stop) = (server.url(), name.clone(), Arc::clone(&stop));
        tasks.push(tokio::spawn(async move {
            while !stop.load(Ordering::SeqCst) {
                let client = connect(&url, "dlock").await;
                let mutex = client.mutex(&name).expect("a valid name");
                let guard = mutex.lock().await.expect("its turn");
                tokio::time::sleep(Duration::from_millis(20)).await;
                guard.release().await.expect("held to the end");
                client.shutdown().await.expect("nothing is held");
            }
        }));
    }
    let foreign = Foreign::new(&server.url(), &name).await;
    for round in 0..3 {
        let mut moments = Vec::new();
        while !foreign.acquire(LONG).await {
            moments.extend(noted(&server, &name, "q").await);
            moments.dedup();
            assert!(moments.len() <= MISSED + 1, "{round}: {moments:?}");
            tokio::time::sleep(POLL).await;
        }
        println!("{round}: got in after {} moments", moments.len());
        assert!(foreign.release().await);
        // The last visit is a while ago.
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    stop.store(true, Ordering::SeqCst);
    for task in tasks {
        task.await.expect("no panic");
    }
}

/// Polling programs take it from each other; no message tells the queue when they release it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_in_the_line_is_not_passed_over_by_those_who_poll() {
    const POLLERS: usize = 5;
    let (server, name) = (RedisServer::start().await, unique_prefix());
    let (stop, grants) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let mut tasks = Vec::new();
    for _ in 0..POLLERS {
        let foreign = Foreign::new(&server.url(), &name).await;
        let (stop, grants) = (Arc::clone(&stop), Arc::clone(&grants));
        tasks.push(tokio::spawn(async move {
            while !stop.load(Ordering::SeqCst) {
                if foreign.acquire(LONG).await {
                    grants.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    assert!(foreign.release().await);
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }));
    }
    let client = connect(&server.url(), "dlock").await;
    let mutex = client.mutex(&name).expect("a valid name");
    let mut passed = Vec::new();
    for _ in 0..12 {
        let before = grants.load(Ordering::SeqCst);
        let guard = mutex.lock().await.expect("its turn");
        passed.push(grants.load(Ordering::SeqCst) - before);
        guard.release().await.expect("held to the end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stop.store(true, Ordering::SeqCst);
    for task in tasks {
        task.await.expect("no panic");
    }
    println!("{passed:?} of others came first");
    let all: u64 = passed.iter().sum();
    assert!(all <= 12 * 8, "{passed:?}");
}

/// How many commands a server carries out for each time that the mutex goes from one process to another, in scripts or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hand_over_among_eight_processes_is_fourteen_commands() {
    const EACH: u64 = 100;
    let (server, name) = (RedisServer::start().await, unique_prefix());
    let (stop, grants) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let client = connect(&server.url(), "dlock").await;
        let mutex = client.mutex(&name).expect("a valid name");
        let (stop, grants) = (Arc::clone(&stop), Arc::clone(&grants));
        tasks.push(tokio::spawn(async move {
            while !stop.load(Ordering::SeqCst) {
                let guard = mutex.lock().await.expect("its turn");
                grants.fetch_add(1, Ordering::SeqCst);
                guard.release().await.expect("held to the end");
            }
        }));
    }
    let mut figures = Vec::new();
    for _ in 0..12 {
        let before = (commands(&server).await, grants.load(Ordering::SeqCst));
        wait_until(LONG, "it is passed on", || async {
            grants.load(Ordering::SeqCst) >= before.1 + EACH
        })
        .await;
        let after = (commands(&server).await, grants.load(Ordering::SeqCst));
        let few = |number: u64| f64::from(u32::try_from(number).expect("few"));
        figures.push(few(after.0 - before.0) / few(after.1 - before.1));
    }
    stop.store(true, Ordering::SeqCst);
    for task in tasks {
        task.await.expect("no panic");
    }
    println!("{figures:.2?}");
    // On a slow machine heartbeats and renewals come on top.
    let least = figures.into_iter().fold(f64::INFINITY, f64::min);
    assert!(least < 14.5, "{least}");
}

async fn commands(server: &RedisServer) -> u64 {
    let stats = server.command_stats().await;
    let others = stats.iter().filter(|(name, _)| *name != "info");
    others.map(|(_, calls)| calls).sum()
}
