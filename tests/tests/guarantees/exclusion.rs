//! Many processes, one lock, and a judge who does not trust it.

use std::time::Duration;

use dlock_tests::{EventLog, Worker, check_exclusion, shared_cluster, unique_prefix};

const PROCESSES: usize = 8;
const SECONDS: u64 = 20;

#[tokio::test]
async fn eight_processes_read_and_write() {
    let cluster = shared_cluster().await;
    let prefix = unique_prefix();
    let log = EventLog::open(std::env::temp_dir().join(&prefix));
    let start = |number| {
        let arguments = [
            "loop".to_owned(),
            format!("url={}", cluster.url()),
            format!("prefix={prefix}"),
            "lock=one".to_owned(),
            format!("log={}", log.path().display()),
            format!("seconds={SECONDS}"),
            "reads=70".to_owned(),
            "hold_ms=4".to_owned(),
            "lease_ms=2000".to_owned(),
            // Half of them pass holds around among their own tasks.
            format!("tasks={}", if number % 2 == 0 { 1 } else { 4 }),
        ];
        Worker::spawn(env!("CARGO_BIN_EXE_worker"), arguments)
    };
    let workers: Vec<_> = (0..PROCESSES).map(start).collect();
    for worker in &workers {
        worker.wait_success(Duration::from_secs(2 * SECONDS)).await;
        let output = worker.output();
        let done: Vec<&str> = output.split_whitespace().collect();
        let ["done", held, "0"] = done[..] else {
            panic!("no hold is lost: {output}");
        };
        let held: u64 = held.parse().expect("a number");
        assert!(held > 100, "nobody starves: {held} holds");
    }
    let events = log.events();
    std::fs::remove_file(log.path()).expect("the log can be removed");
    let report = check_exclusion(&events);
    println!("{report}");
    report.assert_clean();
    assert_eq!((report.broken, report.unfinished), (0, 0));
    assert!(report.most_readers > 1, "readers share");
    assert!(report.writes > 500 && report.reads > report.writes);
}
