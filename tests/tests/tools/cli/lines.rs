//! Output as JSON: a line is one write, so that two processes that write to one file do not interleave.

use std::{
    os::{fd::OwnedFd, unix::net::UnixDatagram},
    process::Stdio,
    time::Duration,
};

use dlock_tests::dlock_tool;
use serde_json::Value;
use tokio::process::Command;

use crate::tool::Tool;

/// Longer than a line buffer of the standard library.
const LONG: usize = 20_000;

/// Runs the tool with sockets that keep writes apart: what it wrote to its standard output, and to its standard error.
async fn writes(tool: &Tool, arguments: &[&str]) -> [Vec<String>; 2] {
    let pair = || UnixDatagram::pair().expect("a pair of sockets");
    let [(out, theirs_out), (err, theirs_err)] = [pair(), pair()];
    let status = Command::new(dlock_tool())
        .args(tool.arguments(arguments))
        .stdin(Stdio::null())
        .stdout(OwnedFd::from(theirs_out))
        .stderr(OwnedFd::from(theirs_err))
        .status()
        .await
        .expect("it starts");
    assert!(status.success(), "{status}");
    [out, err].map(|socket| {
        let wait = Some(Duration::from_millis(1));
        socket.set_read_timeout(wait).expect("not zero");
        let mut part = vec![0; 1 << 20];
        let mut writes = Vec::new();
        while let Ok(len) = socket.recv(&mut part) {
            writes.push(String::from_utf8_lossy(&part[..len]).into_owned());
        }
        writes
    })
}

#[tokio::test]
async fn each_line_is_one_write() {
    let tool = Tool::on_cluster().await;
    let run = ["--json", "run", "--key", "lines", "--", "true"];
    let [_, err] = writes(&tool, &run).await;
    assert_eq!(err.len(), 2, "{err:?}");

    let name = format!("order:{}", "x".repeat(500));
    let lock = tool.client.rw_lock(&name).expect("valid");
    let mut guards = Vec::new();
    for _ in 0..LONG / 200 {
        let reader = dlock::Client::builder()
            .url(tool.url())
            .prefix(tool.prefix());
        let reader = reader.build().await.expect("the servers run");
        guards.push(
            reader
                .rw_lock(&name)
                .expect("valid")
                .read()
                .await
                .expect("free"),
        );
    }
    let mut written = err;
    for command in [
        &["inspect", &name, "--json"][..],
        &["list", "--json"],
        &["top", "--json", "-n", "1"],
    ] {
        let [out, _] = writes(&tool, command).await;
        assert_eq!(out.len(), 1, "{command:?}: {} writes", out.len());
        assert!(out[0].len() > 10_000, "{command:?}: {}", out[0].len());
        written.extend(out);
    }
    for line in written {
        assert!(line.ends_with('\n'), "{line}");
        serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    drop((lock, guards));
}
