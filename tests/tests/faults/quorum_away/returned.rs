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
    quorum.end(fault).await;
    let witness = quorum.alone(quorum.victim).await;
    let since = Instant::now();
    // Two renewals, and as much again for a busy machine.
    wait_until(4 * LEASE / 3, "all holds are recorded again", || async {
        for number in 0..HOLDS {
            let lock = witness.rw_lock(name(number)).expect("a good name");
            if lock.inspect().await.expect("it answers").holders.is_empty() {
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
