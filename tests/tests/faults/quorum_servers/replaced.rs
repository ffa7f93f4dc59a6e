//! Servers that are replaced by empty ones, one after the other.

use std::sync::Arc;
use std::time::Duration;

use dlock::{Client, LockMode};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::quorum_servers::Servers;
use crate::quorum_servers::judge::Judge;

const LEASE: Duration = Duration::from_secs(2);
const ROUNDS: usize = 7;
const WAITERS: usize = 16;

/// The waiters try at an empty server again and again: the holder has to find a moment in between.
#[tokio::test(flavor = "multi_thread")]
async fn servers_are_replaced_one_after_the_other_while_many_wait() {
    let three = Servers::start(3).await;
    let client = three.builder().lease(LEASE).build().await.expect("there");
    let (judge, mut waiting) = (Arc::new(Judge::default()), JoinSet::new());
    let held = client.rw_lock("a").expect("ok").write().await;
    let held = held.expect("free");
    judge.enter(LockMode::Write, held.fencing_token());
    for _ in 0..WAITERS {
        let (client, judge) = (three.client().await, Arc::clone(&judge));
        waiting.spawn(async move { wait(&client, &judge).await });
    }
    for round in 0..ROUNDS {
        three.servers[round % 3].restart().await;
        // As those who replace servers are told.
        sleep(LEASE).await;
        held.check().expect("only one at a time was replaced");
    }
    judge.leave(LockMode::Write);
    held.release().await.expect("held to the end");
    waiting.join_all().await;
    judge.assert_clean();
}

/// Comes in after all others, and goes.
async fn wait(client: &Client, judge: &Judge) {
    let guard = client.rw_lock("a").expect("ok").write().await;
    let guard = guard.expect("all others have gone");
    judge.enter(LockMode::Write, guard.fencing_token());
    judge.leave(LockMode::Write);
    guard.release().await.expect("held");
}
