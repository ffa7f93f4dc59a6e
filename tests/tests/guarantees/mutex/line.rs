//! Clients of dlock among themselves: in order, told instead of polling; and the moments that they leave to others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dlock_tests::{connect, scaled, shared_server, unique_prefix};

use crate::foreign::Foreign;

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
    }
    stop.store(1, Ordering::SeqCst);
    for task in tasks {
        assert!(task.await.expect("no panic") > 50);
    }
}
