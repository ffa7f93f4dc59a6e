use std::{sync::Arc, time::Duration};

use dlock::FencingToken;
use dlock_load::{Handle, Patience};
use dlock_tests::{
    ProxiedLock,
    history::{Belief, Journal, Story, Tokens, check_exclusion},
    scaled, unique_prefix, wait_free, wait_until,
};
use tokio::task::JoinSet;

use crate::lost_reply::{LEASE, SOON};

/// Connections that are cut at any request, under load from both sides.
#[tokio::test(flavor = "multi_thread")]
async fn any_reply_under_load() {
    let line = ProxiedLock::start(|client| client.lease(LEASE)).await;
    let path = std::env::temp_dir().join(unique_prefix());
    let journal = Arc::new(Journal::create(&path));
    let patience = u64::try_from(scaled(SOON).as_nanos()).map(Patience::For);
    let patience = patience.expect("a short time");
    let mut tasks = JoinSet::new();
    for number in 0..6 {
        let lock = if number < 4 {
            &line.lock
        } else {
            &line.witness
        };
        let lock = Handle::Rw(lock.clone());
        let journal = Arc::clone(&journal);
        tasks.spawn(async move {
            for round in 0..200 {
                let write = (round + number) % 3 == 0;
                let id = journal.asks(0, write, None, patience, false);
                let guard = lock.ask(write, patience).await.expect("comes round");
                let guard = guard.expect("it waits");
                let token = guard.fencing_token().map(FencingToken::as_u64);
                let belief = Belief::begin(&journal, id, token, || false);
                tokio::task::yield_now().await;
                belief.end(|| false);
                if write {
                    guard.release().await.expect("held to the end");
                }
            }
        });
    }
    let cutting = async {
        for cuts in 0.. {
            line.proxy.cut_after_request("EVAL", 1);
            wait_until(SOON, "the connection is cut", || async {
                line.proxy.counters().cuts > cuts
            })
            .await;
            // Time to connect again and to get something done.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        () = cutting => {}
        _ = tasks.join_all() => {}
    }
    let report = check_exclusion(&Story::take(&[path]).calls, Tokens::OfAll);
    println!("{} cuts: {report}", line.proxy.counters().cuts);
    report.assert_clean();
    assert_eq!(
        (report.reads + report.writes, report.without_token),
        (1200, 0)
    );
    assert!(line.proxy.counters().cuts > 2);
    line.proxy.pass();
    wait_free(&line.witness).await;
}
