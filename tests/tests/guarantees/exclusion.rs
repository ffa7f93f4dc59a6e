//! Many processes, one lock, and a judge who does not trust it.

use std::{path::PathBuf, time::Duration};

use dlock_tests::{
    Worker,
    history::{Story, Tokens, check_exclusion},
    shared_cluster, unique_prefix,
};

const PROCESSES: usize = 8;
const SECONDS: u64 = 20;

#[tokio::test]
async fn eight_processes_read_and_write() {
    let cluster = shared_cluster().await;
    let prefix = unique_prefix();
    let log = |number| std::env::temp_dir().join(format!("{prefix}-{number}"));
    let logs: Vec<PathBuf> = (0..PROCESSES).map(log).collect();
    let start = |number: usize| {
        let arguments = [
            "loop".to_owned(),
            format!("url={}", cluster.url()),
            format!("prefix={prefix}"),
            "lock=one".to_owned(),
            format!("log={}", logs[number].display()),
            format!("seconds={SECONDS}"),
            "reads=70".to_owned(),
            "hold_ms=4".to_owned(),
            "lease_ms=2000".to_owned(),
            // Half of them pass holds around among their own tasks.
            format!("tasks={}", if number.is_multiple_of(2) { 1 } else { 4 }),
        ];
        Worker::spawn(env!("CARGO_BIN_EXE_worker"), arguments)
    };
    let workers: Vec<_> = (0..PROCESSES).map(start).collect();
    let mut holds = 0;
    for worker in &workers {
        worker.wait_success(Duration::from_secs(2 * SECONDS)).await;
        let output = worker.output();
        let done: Vec<&str> = output.split_whitespace().collect();
        let ["done", held, "0"] = done[..] else {
            panic!("no hold is lost: {output}");
        };
        let held: usize = held.parse().expect("a number");
        assert!(held > 100, "nobody starves: {held} holds");
        holds += held;
    }
    let report = check_exclusion(&Story::take(&logs).calls, Tokens::OfAll);
    println!("{report}");
    report.assert_clean();
    assert_eq!((report.broken, report.without_token), (0, 0));
    assert_eq!(report.reads + report.writes, holds, "nothing is missing");
    assert!(report.most_readers > 1, "readers share");
    assert!(report.writes > 500 && report.reads > report.writes);
}
