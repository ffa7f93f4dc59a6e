//! Signals to `dlock run`.

use dlock_tests::{Worker, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use crate::tool::{Tool, WITHIN, told, wait_gone};

fn send(worker: &Worker, signal: Signal) {
    let pid = i32::try_from(worker.pid()).expect("a process id");
    kill_process(Pid::from_raw(pid).expect("not zero"), signal).expect("it runs");
}

#[tokio::test]
async fn the_command_gets_them_and_decides() {
    let tool = Tool::on_cluster().await;
    for (signal, name) in [
        (Signal::TERM, "TERM"),
        (Signal::INT, "INT"),
        (Signal::HUP, "HUP"),
    ] {
        let script = format!("trap 'exit 9' {name}; echo ready=1; while :; do sleep 0.02; done");
        let run = tool.start(&["--key", "signals"], &script);
        told(&run, "ready").await;
        send(&run, signal);
        assert_eq!(run.wait(WITHIN).await.code(), Some(9), "{name}");
        assert!(tool.info("signals").await.holders.is_empty(), "given back");
    }
}

#[tokio::test]
async fn a_command_ended_by_one_makes_128_and_more_and_leaves_nobody_behind() {
    let tool = Tool::on_cluster().await;
    let run = tool.start(&["--key", "tree"], "sleep 600 & echo child=$!; wait");
    let child = told(&run, "child").await;
    send(&run, Signal::TERM);
    assert_eq!(run.wait(WITHIN).await.code(), Some(143));
    wait_gone(&child).await;
}

#[tokio::test]
async fn while_it_waits_they_end_it_and_its_place_in_line_is_given_up() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("line").expect("valid");
    let guard = lock.write().await.expect("free");
    let run = tool.start(&["--key", "line"], "echo ran=1");
    wait_until(WITHIN, "the tool waits", || async {
        !tool.info("line").await.waiters.is_empty()
    })
    .await;
    send(&run, Signal::INT);
    assert_eq!(run.wait(WITHIN).await.code(), Some(130));
    assert!(tool.info("line").await.waiters.is_empty());
    assert!(!run.output().contains("ran"));
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn a_command_that_ignores_being_told_to_end_is_killed_after_its_grace() {
    let tool = Tool::on_cluster().await;
    let script = "trap '' TERM; sleep 600 & echo child=$!; while :; do sleep 0.02; done";
    let run = tool.start(&["--key", "deaf", "--grace", "300ms"], script);
    let child = told(&run, "child").await;
    send(&run, Signal::TERM);
    assert_eq!(run.wait(WITHIN).await.code(), Some(137));
    assert!(run.output().contains("killed"), "{}", run.output());
    wait_gone(&child).await;
    assert!(tool.info("deaf").await.holders.is_empty(), "given back");
}

/// The shell ends at once, what it has started does not.
#[tokio::test]
async fn what_a_command_has_started_keeps_the_lock_until_it_is_gone() {
    let tool = Tool::on_cluster().await;
    let script =
        "sh -c 'trap \"\" TERM; echo child=$$; until [ -e go ]; do sleep 0.02; done' & wait";
    let run = tool.start(&["--key", "family", "--grace", "30s"], script);
    let child = told(&run, "child").await;
    let shell = run.pid();
    send(&run, Signal::TERM);
    wait_until(WITHIN, "the shell has ended", || async {
        children(shell).is_empty()
    })
    .await;
    assert_eq!(
        tool.info("family").await.holders.len(),
        1,
        "child {child} is at work"
    );
    run.touch("go");
    assert_eq!(run.wait(WITHIN).await.code(), Some(143));
    assert!(tool.info("family").await.holders.is_empty(), "given back");
}

/// The processes that a process has started, and not yet heard of the end of.
fn children(pid: u32) -> String {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children.expect("it runs").trim().to_owned()
}
