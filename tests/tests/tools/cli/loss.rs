//! `dlock run`, when the lease is lost.

use dlock_tests::{RedisServer, shared_server};

use crate::tool::{Tool, WITHIN, told, wait_gone};

const LEASE: [&str; 4] = ["--key", "lost", "--lease", "900ms"];

#[tokio::test]
async fn the_command_is_told_to_end() {
    let server = shared_server().await;
    let tool = Tool::on(&server.url()).await;
    let script = "trap 'echo told=TERM; exit 3' TERM; echo ready=1; while :; do sleep 0.02; done";
    let run = tool.start(&LEASE, script);
    told(&run, "ready").await;
    server.query::<u32>(&["DEL", &tool.raw_key("lost")]).await;
    let status = run.wait(WITHIN).await;
    assert_eq!(status.code(), Some(76), "{}", run.output());
    assert!(run.output().contains("told=TERM"), "{}", run.output());
    assert!(run.output().contains("lease was lost"), "{}", run.output());
}

#[tokio::test]
async fn a_command_that_does_not_listen_is_killed_with_all_it_started() {
    let server = shared_server().await;
    let tool = Tool::on(&server.url()).await;
    // The shell ignores SIGTERM, and so does what it starts.
    let script = "trap '' TERM; sleep 600 & echo child=$!; echo self=$$; wait";
    let run = tool.start(&[&LEASE[..], &["--grace", "200ms"]].concat(), script);
    let (child, shell) = (told(&run, "child").await, told(&run, "self").await);
    server.query::<u32>(&["DEL", &tool.raw_key("lost")]).await;
    let status = run.wait(WITHIN).await;
    assert_eq!(status.code(), Some(76), "{}", run.output());
    assert!(run.output().contains("killed"), "{}", run.output());
    wait_gone(&shell).await;
    wait_gone(&child).await;
}

#[tokio::test]
async fn a_silent_server_stops_the_command_before_others_could_get_the_lock() {
    let server = RedisServer::start().await;
    let tool = Tool::on(&server.url()).await;
    // SIGTERM comes while some of the lease is left: the server, once it is back, still knows the hold.
    let script = "trap 'echo told=TERM; exit 0' TERM; echo ready=1; while :; do sleep 0.02; done";
    let run = tool.start(&["--key", "lost", "--lease", "6s", "--grace", "2s"], script);
    told(&run, "ready").await;
    server.pause();
    told(&run, "told").await;
    server.resume();
    let info = tool.info("lost").await;
    let status = run.wait(WITHIN).await;
    assert_eq!(status.code(), Some(76), "{}", run.output());
    assert!(
        info.holders.len() <= 1,
        "nobody but the tool was there: {info:?}"
    );
    tool.wait_free("lost").await;
}

#[tokio::test]
async fn a_loss_noticed_only_at_the_release_is_told_too() {
    let server = shared_server().await;
    let tool = Tool::on(&server.url()).await;
    let run = tool.start(
        &["--key", "late", "--lease", "1h"],
        "echo ready=1; until [ -e go ]; do sleep 0.02; done",
    );
    told(&run, "ready").await;
    server.query::<u32>(&["DEL", &tool.raw_key("late")]).await;
    run.touch("go");
    let status = run.wait(WITHIN).await;
    assert_eq!(status.code(), Some(76), "{}", run.output());
}
