//! Another process that uses the locks.

use std::{
    ffi::OsStr,
    process::{Command, ExitStatus},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{folder::Folder, process::Process, wait_for};

/// A process of a program of the tests; it ends with the value and with the test process.
#[derive(Debug)]
pub struct Worker {
    process: Mutex<Process>,
}

impl Worker {
    /// Starts `program`, usually `env!("CARGO_BIN_EXE_worker")`, with these arguments in a folder of its own.
    pub fn spawn<A: AsRef<OsStr>>(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut command = Command::new(program);
        command.args(arguments);
        Self {
            process: Mutex::new(Process::start(Folder::create(), command)),
        }
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process().pid()
    }

    /// What it wrote to its standard output and error so far.
    #[must_use]
    pub fn output(&self) -> String {
        self.process().output()
    }

    /// Makes an empty file in the folder it works in.
    pub fn touch(&self, name: &str) {
        let path = self.process().folder().join(name);
        std::fs::write(path, "").expect("the folder is writable");
    }

    /// Freezes it (SIGSTOP).
    pub fn pause(&self) {
        self.process().pause();
    }

    /// Lets it run again (SIGCONT).
    pub fn resume(&self) {
        self.process().resume();
    }

    /// Kills it (SIGKILL); it is gone on return.
    pub fn kill(&self) {
        self.process().kill();
    }

    /// Asks it to end (SIGTERM).
    pub fn terminate(&self) {
        self.process().terminate();
    }

    /// How it ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<ExitStatus> {
        self.process().ended()
    }

    /// Waits until it ends by itself, and returns how.
    pub async fn wait(&self, within: Duration) -> ExitStatus {
        let what = format!("process {} ends", self.pid());
        wait_for(within, &what, || async { self.process().ended() }).await
    }

    /// Waits until it ends, and panics with its output unless it ends well.
    pub async fn wait_success(&self, within: Duration) {
        let status = self.wait(within).await;
        assert!(status.success(), "{status}:\n{}", self.output());
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
