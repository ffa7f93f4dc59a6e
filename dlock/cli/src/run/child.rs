//! The command.

use std::io::{self, IsTerminal};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use dlock::FencingToken;
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process, kill_process_group, test_kill_process_group, waitpgid,
};
use tokio::process::Command;
use tokio::time::sleep;

use super::signals::Came;
use crate::args::{KEY, Run, URL};
use crate::exit::{Exit, Failure};

/// How often to look whether what a command has started is gone.
const POLL: Duration = Duration::from_millis(5);

/// Where the command finds the fencing token.
const TOKEN: &str = "DLOCK_TOKEN";

/// A running command.
pub(super) struct Child {
    process: tokio::process::Child,
    pid: Option<Pid>,
    status: Option<ExitStatus>,
    /// Whether it leads a process group of its own.
    leads: bool,
}

impl Child {
    pub(super) fn spawn(args: &Run, token: Option<FencingToken>) -> Result<Self, Failure> {
        let (program, arguments) = args
            .command
            .split_first()
            .ok_or_else(|| Failure::usage("there is no command to run"))?;
        // In a terminal it stays where Ctrl-C reaches it and where it may read.
        let leads = !io::stdin().is_terminal();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env(KEY, &args.key)
            // Not that of another `dlock run` around this one.
            .env_remove(TOKEN)
            .kill_on_drop(true);
        if let Some(token) = token {
            command.env(TOKEN, token.to_string());
        }
        if !args.keep_url {
            command.env_remove(URL);
        }
        if leads {
            command.process_group(0);
        }
        let process = command.spawn().map_err(|error| {
            let exit = match error.kind() {
                io::ErrorKind::NotFound => Exit::NOT_FOUND,
                _ => Exit::NOT_EXECUTABLE,
            };
            Failure::new(exit, format!("{}: {error}", program.display()))
        })?;
        let pid = process.id().and_then(|pid| i32::try_from(pid).ok());
        Ok(Self {
            pid: pid.and_then(Pid::from_raw),
            status: None,
            process,
            leads,
        })
    }

    /// Waits for its end; for that of `all` that it has started, too, if it leads a group.
    pub(super) async fn ended(&mut self, all: bool) -> io::Result<ExitStatus> {
        let status = match self.status {
            Some(status) => status,
            None => *self.status.insert(self.process.wait().await?),
        };
        while all && self.leads && self.others_run() {
            sleep(POLL).await;
        }
        self.pid = None;
        Ok(status)
    }

    /// Whether a process is left in the group of a command that has ended.
    fn others_run(&self) -> bool {
        let Some(group) = self.pid else { return false };
        // Where dlock is the first process, those that lost their parents are its children.
        while let Ok(Some(_)) = waitpgid(group, WaitOptions::NOHANG) {}
        test_kill_process_group(group).is_ok()
    }

    /// Passes a signal on that dlock got.
    pub(super) fn forward(&self, came: Came) {
        if self.leads || !came.is_from_keyboard() {
            self.signal(came.0);
        }
    }

    /// Sends a signal to the command, and to all that it started if it leads a group.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(pid) = self.pid.filter(|_| self.leads || self.status.is_none()) else {
            return;
        };
        // It may have ended meanwhile, which is as good.
        let _ = if self.leads {
            kill_process_group(pid, signal)
        } else {
            kill_process(pid, signal)
        };
    }
}

/// The exit code that stands for how a command ended.
pub(super) fn exit_of(status: ExitStatus) -> Exit {
    let code = status.code();
    let code = code.or_else(|| status.signal().map(|signal| 128 + signal));
    Exit(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(255))
}
