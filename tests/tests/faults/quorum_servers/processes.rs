//! Eight processes, one of which is frozen now and then, while a minority of the servers fails in turn.

use std::{path::PathBuf, time::Duration};

use dlock_tests::{
    Worker,
    history::{Story, Tokens, check_exclusion},
    scaled,
};
use tokio::time::{Instant, sleep};

use crate::quorum_servers::Servers;

const PROCESSES: usize = 8;
const SECONDS: u64 = 20;

#[tokio::test(flavor = "multi_thread")]
async fn eight_processes_keep_apart_while_servers_and_processes_fail() {
    let five = Servers::start(5).await;
    let log = |number| std::env::temp_dir().join(format!("{}-{number}", five.prefix));
    let logs: Vec<PathBuf> = (0..PROCESSES).map(log).collect();
    let start = |number: usize| {
        let arguments = [
            "loop".to_owned(),
            format!("url={}", five.urls().join(" ")),
            format!("prefix={}", five.prefix),
            "lock=one".to_owned(),
            format!("log={}", logs[number].display()),
            format!("seconds={SECONDS}"),
            "reads=30".to_owned(),
            "hold_ms=4".to_owned(),
            "lease_ms=1000".to_owned(),
            format!("tasks={}", if number.is_multiple_of(2) { 1 } else { 3 }),
        ];
        Worker::spawn(env!("CARGO_BIN_EXE_worker"), arguments)
    };
    let workers: Vec<_> = (0..PROCESSES).map(start).collect();
    let end = Instant::now() + Duration::from_secs(SECONDS - 4);
    let mut round = 0;
    while Instant::now() < end {
        // All have been reached again by then.
        sleep(scaled(Duration::from_millis(600))).await;
        // Two of five at most, and none of them back within a lease of its death.
        let (one, two) = (round % 5, (round + 2) % 5);
        five.servers[one].pause();
        five.servers[two].kill();
        workers[round % PROCESSES].pause();
        sleep(Duration::from_millis(1500)).await;
        workers[round % PROCESSES].resume();
        five.servers[one].resume();
        five.servers[two].restart().await;
        round += 1;
    }
    for worker in &workers {
        worker.wait_success(Duration::from_secs(3 * SECONDS)).await;
    }
    let report = check_exclusion(&Story::take(&logs).calls, Tokens::OfWriters);
    println!("{round} rounds of faults: {report}");
    report.assert_clean();
    assert!(report.writes > 100 && report.reads > 20);
}
