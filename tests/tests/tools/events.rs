//! The event log keeps what several processes write into it.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use dlock_tests::{EventLog, Mode, check_exclusion, unique_prefix};

/// Set for the processes that this test starts: the log they write to.
const LOG: &str = "DLOCK_EVENT_LOG";

#[test]
fn processes_share_a_log() {
    const ROUNDS: u64 = 200;
    if let Some(path) = std::env::var_os(LOG) {
        let log = EventLog::open(PathBuf::from(path));
        for round in 0..ROUNDS {
            let token = u64::from(std::process::id()) * ROUNDS + round;
            let hold = log.enter("a key with spaces", Mode::Read, token);
            log.exit("a key with spaces", Mode::Read, token, hold);
        }
        return;
    }
    let log = EventLog::open(std::env::temp_dir().join(unique_prefix()));
    let start = |_| {
        let program = std::env::current_exe().expect("the test has a path");
        Command::new(program)
            .args(["--exact", "events::processes_share_a_log"])
            .env(LOG, log.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("the test starts again")
    };
    let children: Vec<_> = (0..4).map(start).collect();
    for mut child in children {
        assert!(child.wait().expect("a child ends").success());
    }
    let events = log.events();
    std::fs::remove_file(log.path()).expect("the log can be removed");
    let report = check_exclusion(&events);
    report.assert_clean();
    assert_eq!(report.reads, 4 * 200);
    assert_eq!(report.unfinished, 0);
}
