//! Running the tool.

use std::{path::Path, time::Duration};

use dlock::{Client, LockInfo};
use dlock_tests::{Worker, dlock_tool, shared_cluster, unique_prefix, wait_for, wait_until};
use serde_json::Value;
use tokio::process::Command;

pub(crate) const WITHIN: Duration = Duration::from_secs(30);

/// The tool with a prefix of its own, and a client that sees the same locks.
pub(crate) struct Tool {
    program: &'static Path,
    url: String,
    prefix: String,
    pub(crate) client: Client,
}

/// How it ended, and what it said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Tool {
    pub(crate) async fn on_cluster() -> Self {
        Self::on(&shared_cluster().await.url()).await
    }

    pub(crate) async fn on(url: &str) -> Self {
        // It may have to be built, before a test takes times.
        let program = dlock_tool();
        let prefix = unique_prefix();
        let client = Client::builder()
            .url(url)
            .prefix(&prefix)
            .client_name("test");
        Self {
            client: client.build().await.expect("the servers run"),
            program,
            url: url.to_owned(),
            prefix,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(crate) fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        [&["--url", &self.url, "--prefix", &self.prefix], more].concat()
    }

    /// Runs it to its end.
    pub(crate) async fn say(&self, arguments: &[&str]) -> Said {
        say(&self.arguments(arguments)).await
    }

    /// Starts `run` with these options and a shell script.
    pub(crate) fn start(&self, options: &[&str], script: &str) -> Worker {
        let run = [&["run"], options, &["--", "sh", "-c", script]].concat();
        Worker::spawn(self.program, self.arguments(&run))
    }

    pub(crate) async fn info(&self, key: &str) -> LockInfo {
        let lock = self.client.rw_lock(key).expect("valid");
        lock.inspect().await.expect("answers")
    }

    /// The key on the server.
    pub(crate) fn raw_key(&self, key: &str) -> String {
        let lock = self.client.rw_lock(key).expect("valid");
        lock.key().as_str().to_owned()
    }

    pub(crate) async fn wait_free(&self, key: &str) {
        wait_until(WITHIN, "the lock is free", || async {
            let info = self.info(key).await;
            info.holders.is_empty() && info.waiters.is_empty()
        })
        .await;
    }
}

/// Runs the tool with nothing but these arguments.
pub(crate) async fn say(arguments: &[&str]) -> Said {
    say_in(&[], arguments).await
}

/// Runs the tool with these arguments, and with these variables in addition to those of the tests.
pub(crate) async fn say_in(variables: &[(&str, &str)], arguments: &[&str]) -> Said {
    let output = Command::new(dlock_tool())
        .args(arguments)
        .envs(variables.iter().copied())
        .stdin(std::process::Stdio::null())
        .output()
        .await
        .expect("it starts");
    Said {
        code: output.status.code().expect("no signal ends it"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// What a worker's output says after `name=`, when it has said it.
pub(crate) async fn told(worker: &Worker, name: &str) -> String {
    let stem = format!("{name}=");
    wait_for(WITHIN, &format!("the command tells {name}"), || async {
        let output = worker.output();
        // Only whole lines: the rest may still come.
        output.split_inclusive('\n').find_map(|line| {
            let told = line.strip_prefix(&stem)?;
            told.strip_suffix('\n').map(str::to_owned)
        })
    })
    .await
}

/// Waits until a process has ended and is not even waited for.
pub(crate) async fn wait_gone(pid: &str) {
    wait_until(WITHIN, "a process is gone", || async {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
            return true;
        };
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| rest.starts_with(" Z"))
    })
    .await;
}
