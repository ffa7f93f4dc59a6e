//! A server that was away and is back has the holds again, so that the next one may fail.

use std::time::Duration;

use dlock_tests::wait_until;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::{Fault, Quorum};

const LEASE: Duration = Duration::from_secs(6);
const WAITERS: usize = 10;
const HOLDS: usize = 50;

/// Waiters look at the servers all the time, and must not keep the holder from finding out that one is back.
async fn returns(fault: Fault) {
    let quorum = Quorum::start(3).await;
    let client = quorum.builder().lease(LEASE).build().await;
    let client = client.expect("all are there");
    let name = |number: usize| format!("held-{number}");
    quorum.begin(fault);
    // Longer than a server takes to count as down.
    sleep(Duration::from_millis(1_500)).await;
    let mut held = Vec::new();
    for number in 0..HOLDS {
        let lock = client.rw_lock(name(number)).expect("a good name");
        held.push(lock.write().await.expect("two of three"));
    }
    let mut waiting = JoinSet::new();
    for _ in 0..WAITERS {
        let waiter = quorum.client().await;
        waiting.spawn(async move {
            let lock = waiter.rw_lock("held-0").expect("a good name");
            let guard = lock.write().await.expect("free in the end");
            guard.release().await.expect("held");
        });
    }
    sleep(Duration::from_millis(500)).await;
    // Attempts of waiters come and go, so the servers have other holds at times.
    let mut ids = Vec::new();
    for number in 0..HOLDS {
        let lock = client.rw_lock(name(number)).expect("a good name");
        let info = lock.inspect().await.expect("two of three answer");
        assert_eq!(info.holders.len(), 1, "{info:?}");
        ids.push(info.holders[0].id.clone());
    }
    quorum.end(fault).await;
    let witness = quorum.alone(quorum.victim).await;
    let since = Instant::now();
    // Two renewals, and as much again for a busy machine.
    wait_until(4 * LEASE / 3, "all holds are recorded again", || async {
        for (number, id) in ids.iter().enumerate() {
            let lock = witness.rw_lock(name(number)).expect("a good name");
            let info = lock.inspect().await.expect("it answers");
            if info.holders.iter().all(|hold| hold.id != *id) {
                return false;
            }
        }
        true
    })
    .await;
    println!(
        "{fault:?}: {HOLDS} holds were recorded again after {:?}",
        since.elapsed()
    );
    quorum.servers[(quorum.victim + 1) % 3].kill();
    sleep(LEASE + LEASE / 2).await;
    for guard in &held {
        guard.check().expect("two of three have it");
    }
    for guard in held {
        guard.release().await.expect("held to the end");
    }
    while let Some(ended) = waiting.join_next().await {
        ended.expect("no panic");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_shut_down_has_the_holds_again() {
    returns(Fault::Shutdown).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refused_has_the_holds_again() {
    returns(Fault::Refusing).await;
}

impl Quorum {
    /// How many scripts one server runs until another one has run a thousand, and how many that has run.
    async fn asked(&self, victim: usize) -> (u64, u64) {
        let others: Vec<_> = (0..3).filter(|server| *server != victim).collect();
        let count = async |server: usize| self.servers[server].command_stats().await;
        let before = [
            count(others[0]).await,
            count(others[1]).await,
            count(victim).await,
        ];
        let most = async || {
            let first = count(others[0]).await.since(&before[0]).scripts();
            first.max(count(others[1]).await.since(&before[1]).scripts())
        };
        wait_until(2 * LEASE, "waiters look at a server", || async {
            most().await > 1_000
        })
        .await;
        let asked = count(victim).await.since(&before[2]).scripts();
        (asked, most().await)
    }
}

/// An attempt that has a server for a moment keeps the holder from recording its hold there.
async fn is_left_alone(victim: usize) {
    let quorum = Quorum::with(3, victim).await;
    // So long that it is not renewed meanwhile: until then no server is sent the hold.
    let holder = quorum.builder().lease(Duration::from_secs(300));
    let holder = holder.build().await.expect("all are there");
    let lock = holder.rw_lock("held").expect("a good name");
    let held = lock.write().await.expect("free");
    let mut waiting = JoinSet::new();
    let mut waiters = Vec::new();
    for _ in 0..WAITERS {
        let waiter = quorum.client().await;
        let lock = waiter.rw_lock("held").expect("a good name");
        waiting.spawn(async move { lock.write().await.map(drop) });
        waiters.push(waiter);
    }
    sleep(Duration::from_millis(500)).await;
    quorum.begin(Fault::Shutdown);
    sleep(Duration::from_millis(1_500)).await;
    quorum.end(Fault::Shutdown).await;
    let witness = quorum.alone(victim).await;
    for (number, client) in waiters.iter().enumerate() {
        let name = format!("another-{number}");
        let there = witness.rw_lock(&name).expect("a good name");
        let lock = client.rw_lock(&name).expect("a good name");
        wait_until(LEASE, "the waiter uses the server again", || async {
            let guard = lock.write().await.expect("free");
            let info = there.inspect().await.expect("it answers");
            guard.release().await.expect("held");
            !info.holders.is_empty()
        })
        .await;
    }
    let (asked, most) = quorum.asked(victim).await;
    println!("{asked} scripts at the server that is back, {most} at another");
    // A waiter asks all servers when the one that it asks first is late.
    assert!(asked < most / 20, "{asked} of {most}");
    held.release().await.expect("held");
    while let Some(ended) = waiting.join_next().await {
        ended.expect("no panic").expect("free in the end");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn waiters_leave_a_server_alone_that_lacks_the_hold() {
    for victim in 0..3 {
        is_left_alone(victim).await;
    }
}
