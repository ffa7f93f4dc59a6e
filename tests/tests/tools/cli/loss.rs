//! `dlock run`, when the lease is lost.

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use dlock::__internals::Script;
use dlock_tests::{
    FaultProxy, RedisServer, dlock_tool, request_of, scaled, shared_server, wait_until,
};
use tokio::process::Command;
use tokio::time::timeout;

use crate::tool::{Tool, WITHIN, told, wait_gone};

/// What a pipe has room for (pipe(7)).
const PIPE: usize = 65_536;

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

/// The shell ends when it is told to, what it has started does not.
#[tokio::test]
async fn what_a_command_has_started_is_killed_although_the_command_has_ended() {
    let server = shared_server().await;
    let tool = Tool::on(&server.url()).await;
    let script = "sh -c 'trap \"\" TERM; echo child=$$; while :; do sleep 0.02; done' & wait";
    let run = tool.start(&[&LEASE[..], &["--grace", "200ms"]].concat(), script);
    let child = told(&run, "child").await;
    server.query::<u32>(&["DEL", &tool.raw_key("lost")]).await;
    let status = run.wait(WITHIN).await;
    assert_eq!(status.code(), Some(76), "{}", run.output());
    assert!(run.output().contains("killed"), "{}", run.output());
    wait_gone(&child).await;
}

#[tokio::test]
async fn a_command_is_stopped_although_nobody_reads_what_is_told() {
    let server = shared_server().await;
    let tool = Tool::on(&server.url()).await;
    let (unread, mut full) = std::io::pipe().expect("a pipe");
    full.write_all(&vec![b'.'; PIPE]).expect("room for so much");
    let (mut said, out) = std::io::pipe().expect("a pipe");
    let script = "echo $$; exec sleep 600";
    let run = [&["run"], &LEASE[..], &["--", "sh", "-c", script]].concat();
    let mut run = Command::new(dlock_tool())
        .args(tool.arguments(&run))
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(full)
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let read = tokio::task::spawn_blocking(move || {
        let mut byte = [0];
        let mut line = String::new();
        while said.read(&mut byte).is_ok_and(|read| read == 1) && byte != *b"\n" {
            line.push(char::from(byte[0]));
        }
        line
    });
    let child = read.await.expect("no panic");
    server.query::<u32>(&["DEL", &tool.raw_key("lost")]).await;
    wait_gone(&child).await;
    let status = timeout(scaled(WITHIN), run.wait()).await;
    let status = status.expect("it ends, too").expect("it ran");
    assert_eq!(status.code(), Some(76));
    drop(unread);
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

#[tokio::test]
async fn a_hold_that_is_lost_before_the_command_starts_starts_none() {
    let server = shared_server().await;
    let proxy = FaultProxy::start(server.addr());
    // Passed on, the lock lasts as long as a place in the line until it has been renewed, which it never is.
    proxy.mute_request(request_of(Script::Renew), usize::MAX);
    let tool = Tool::on(&proxy.url()).await;
    let others = dlock::Client::builder()
        .url(server.url())
        .prefix(tool.prefix());
    let others = others.build().await.expect("the server runs");
    let lock = others.rw_lock("early").expect("valid");
    let guard = lock.write().await.expect("free");
    let run = tool.start(&["--key", "early"], "echo ran=1");
    // By then it listens: the grant comes as a message.
    wait_until(WITHIN, "the tool has waited for a while", || async {
        let waiters = lock.inspect().await.expect("answers").waiters;
        let waited = waiters.first().map(|waiter| waiter.waiting_for);
        waited > Some(Duration::from_secs(1))
    })
    .await;
    guard.release().await.expect("held to the end");
    let status = run.wait(WITHIN).await;
    assert_eq!(status.code(), Some(76), "{}", run.output());
    assert!(run.output().contains("was not started"), "{}", run.output());
    assert!(!run.output().contains("ran=1"), "{}", run.output());
}

#[tokio::test]
async fn the_command_is_told_to_end_before_max_hold_is_over() {
    let tool = Tool::on(&shared_server().await.url()).await;
    let options = ["--key", "long", "--max-hold", "3s", "--grace", "1s"];
    let script = "trap 'echo told=TERM; exit 3' TERM; echo ready=1; while :; do sleep 0.02; done";
    let run = tool.start(&options, script);
    told(&run, "told").await;
    let info = tool.info("long").await;
    let status = run.wait(WITHIN).await;
    assert_eq!(status.code(), Some(76), "{}", run.output());
    assert!(run.output().contains("--max-hold"), "{}", run.output());
    assert!(info.holders.len() <= 1, "nobody but the tool: {info:?}");
    tool.wait_free("long").await;
}
