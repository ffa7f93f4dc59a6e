//! A process that a test starts, hurts and ends.

use std::{
    fs::OpenOptions,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::folder::Folder;

const OUTPUT: &str = "output";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Paused,
    Ended(ExitStatus),
}

/// A process and the folder it works in; both go when the value is dropped, and when the test process ends.
#[derive(Debug)]
pub(crate) struct Process {
    folder: Folder,
    command: Command,
    child: Child,
    state: State,
}

impl Process {
    pub(crate) fn start(mut folder: Folder, mut command: Command) -> Self {
        let output = OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.path().join(OUTPUT))
            .expect("the process's folder is writable");
        let errors = output.try_clone().expect("a file handle can be copied");
        command
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            // A terminal's ctrl-C is for the test, which then ends its processes.
            .process_group(0);
        Self {
            child: spawn(&mut command, &mut folder),
            folder,
            command,
            state: State::Running,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What it wrote to its standard output and error.
    pub(crate) fn output(&self) -> String {
        std::fs::read_to_string(self.folder().join(OUTPUT)).unwrap_or_default()
    }

    pub(crate) fn is_live(&self) -> bool {
        self.state == State::Running
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        if let State::Ended(status) = self.state {
            return Some(status);
        }
        let status = self.child.try_wait().expect("a child can be waited for")?;
        self.folder.unwatch();
        self.state = State::Ended(status);
        Some(status)
    }

    pub(crate) fn pause(&mut self) {
        assert_eq!(self.state, State::Running, "only a running process pauses");
        self.signal(Signal::STOP);
        self.state = State::Paused;
    }

    pub(crate) fn resume(&mut self) {
        assert_eq!(self.state, State::Paused, "only a paused process resumes");
        self.signal(Signal::CONT);
        self.state = State::Running;
    }

    /// Asks it to end; it may take its time, or have ended.
    pub(crate) fn terminate(&mut self) {
        if self.ended().is_none() {
            self.signal(Signal::TERM);
        }
    }

    pub(crate) fn kill(&mut self) {
        if matches!(self.state, State::Ended(_)) {
            return;
        }
        self.folder.unwatch();
        self.child.kill().expect("a child can be killed");
        let status = self.child.wait().expect("a child can be waited for");
        self.state = State::Ended(status);
    }

    /// Starts it again, when it has ended.
    pub(crate) fn start_again(&mut self) {
        assert!(matches!(self.state, State::Ended(_)), "it still runs");
        self.child = spawn(&mut self.command, &mut self.folder);
        self.state = State::Running;
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("the process is there to take a signal");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(command: &mut Command, folder: &mut Folder) -> Child {
    let child = command.spawn().unwrap_or_else(|error| {
        let program = command.get_program().display();
        panic!("{program} does not start: {error}; scripts/test installs what the tests need")
    });
    folder.watch(child.id());
    child
}
