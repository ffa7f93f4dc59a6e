use std::{sync::Arc, time::Duration};

use dlock_tests::{
    EventLog, Mode as Logged, ProxiedLock, check_exclusion, scaled, unique_prefix, wait_free,
    wait_until,
};
use tokio::task::JoinSet;

use crate::lost_reply::{LEASE, SOON};

/// Connections that are cut at any request, under load from both sides.
#[tokio::test(flavor = "multi_thread")]
async fn any_reply_under_load() {
    let line = ProxiedLock::start(|client| client.lease(LEASE)).await;
    let log = Arc::new(EventLog::open(std::env::temp_dir().join(unique_prefix())));
    let mut tasks = JoinSet::new();
    for number in 0..6 {
        let lock = if number < 4 {
            &line.lock
        } else {
            &line.witness
        }
        .clone();
        let log = Arc::clone(&log);
        tasks.spawn(async move {
            for round in 0..200 {
                let token;
                let hold;
                if (round + number) % 3 == 0 {
                    let guard = lock.write_timeout(scaled(SOON)).await.expect("comes round");
                    token = guard.fencing_token().as_u64();
                    hold = log.enter("one", Logged::Write, token);
                    tokio::task::yield_now().await;
                    log.exit("one", Logged::Write, token, hold);
                    guard.release().await.expect("held to the end");
                } else {
                    let guard = lock.read_timeout(scaled(SOON)).await.expect("comes round");
                    token = guard.fencing_token().as_u64();
                    hold = log.enter("one", Logged::Read, token);
                    tokio::task::yield_now().await;
                    log.exit("one", Logged::Read, token, hold);
                    drop(guard);
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
    let events = log.events();
    std::fs::remove_file(log.path()).expect("the log can be removed");
    let report = check_exclusion(&events);
    println!("{} cuts: {report}", line.proxy.counters().cuts);
    report.assert_clean();
    assert_eq!(report.reads + report.writes, 1200);
    assert!(line.proxy.counters().cuts > 2);
    line.proxy.pass();
    wait_free(&line.witness).await;
}
