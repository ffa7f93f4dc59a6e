//! The operating system's side of a server.

use std::{
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use super::ServerOptions;
use crate::folder::Folder;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Paused,
    Killed,
}

/// A redis-server process and the folder it works in.
#[derive(Debug)]
pub(crate) struct Process {
    folder: Folder,
    child: Child,
    state: State,
}

impl Process {
    pub(crate) fn start(port: u16, options: &ServerOptions, files: &[(&str, &str)]) -> Self {
        let mut folder = Folder::create();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text)
                .expect("the server's folder is writable");
        };
        write("redis.conf", &options.to_config(port, folder.path()));
        for (name, text) in files {
            write(name, text);
        }
        Self {
            child: spawn(&mut folder),
            folder,
            state: State::Running,
        }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.state == State::Running
    }

    /// Panics with the log if the server ended by itself.
    pub(crate) fn check(&mut self) {
        if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
            self.folder.unwatch();
            self.state = State::Killed;
            panic!("redis-server ended ({status}):\n{}", self.log());
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("redis.log")).unwrap_or_default()
    }

    pub(crate) fn pause(&mut self) {
        assert_eq!(self.state, State::Running, "only a running server pauses");
        self.signal(Signal::STOP);
        self.state = State::Paused;
    }

    pub(crate) fn resume(&mut self) {
        assert_eq!(self.state, State::Paused, "only a paused server resumes");
        self.signal(Signal::CONT);
        self.state = State::Running;
    }

    pub(crate) fn kill(&mut self) {
        if self.state == State::Killed {
            return;
        }
        self.state = State::Killed;
        self.folder.unwatch();
        self.child.kill().expect("the server can be killed");
        self.child.wait().expect("a child can be waited for");
    }

    pub(crate) fn restart(&mut self) {
        self.kill();
        // A replica leaves its last full sync here, and would come back with that old data.
        let dump = self.folder.path().join("dump.rdb");
        if dump.exists() {
            std::fs::remove_file(dump).expect("the server's folder is writable");
        }
        self.child = spawn(&mut self.folder);
        self.state = State::Running;
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("the server is there to take a signal");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(folder: &mut Folder) -> Child {
    let program = std::env::var_os("DLOCK_REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
    let child = Command::new(&program)
        .arg(folder.path().join("redis.conf"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap_or_else(|error| {
            panic!("{} does not start ({error}); scripts/test installs it, or run: apt-get install redis-server", program.display())
        });
    folder.watch(child.id());
    child
}
