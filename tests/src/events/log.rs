//! A file that several processes append to.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::time::{ClockId, clock_gettime};

use super::{Event, EventKind, Mode};

/// Nanoseconds of the clock that all processes of this host share and that also counts suspend.
#[must_use]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let number = |value: i64| u64::try_from(value).expect("boot was in the past");
    number(now.tv_sec) * 1_000_000_000 + number(now.tv_nsec)
}

/// An append-only log of [`Event`]s, shared by processes.
///
/// One `write` to a file opened with `O_APPEND` for each event: lines never mix, and an event that was logged
/// stays logged when its process is killed.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    file: File,
    holds: AtomicU64,
}

impl EventLog {
    /// Opens the log, creating it if need be.
    #[must_use]
    pub fn open(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_owned();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self {
            path,
            file,
            holds: AtomicU64::new(1),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Logs that a hold began; to be called right after the lock was granted. Returns the hold's number.
    pub fn enter(&self, key: &str, mode: Mode, token: u64) -> u64 {
        self.enter_at(now_ns(), key, mode, token)
    }

    /// Logs that a hold had begun by `at_ns`. A process that may be stopped takes the time, sees that the hold is not
    /// lost, and logs that: whenever it is stopped, the hold was live at that time.
    pub fn enter_at(&self, at_ns: u64, key: &str, mode: Mode, token: u64) -> u64 {
        let hold = self.holds.fetch_add(1, Ordering::Relaxed);
        self.append(EventKind::Enter, at_ns, key, mode, token, hold);
        hold
    }

    /// Logs that a hold ends; to be called right before its release.
    pub fn exit(&self, key: &str, mode: Mode, token: u64, hold: u64) {
        self.exit_at(now_ns(), key, mode, token, hold);
    }

    /// Logs that a hold was used until `at_ns`, and live then: see [`enter_at`](Self::enter_at).
    pub fn exit_at(&self, at_ns: u64, key: &str, mode: Mode, token: u64, hold: u64) {
        self.append(EventKind::Exit, at_ns, key, mode, token, hold);
    }

    /// Logs that a hold knows that it was lost.
    pub fn lost(&self, key: &str, mode: Mode, token: u64, hold: u64) {
        self.append(EventKind::Lost, now_ns(), key, mode, token, hold);
    }

    /// Logs that process `pid` was stopped; to be called right after SIGSTOP.
    pub fn paused(&self, pid: u32) {
        self.about_process(EventKind::Paused, pid);
    }

    /// Logs that process `pid` was killed; to be called when it is gone, so that nothing of it comes later.
    pub fn killed(&self, pid: u32) {
        self.about_process(EventKind::Killed, pid);
    }

    /// Everything logged so far, by all processes.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        let text = std::fs::read_to_string(&self.path)
            .unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
        let parse = |line: &str| line.parse().expect("the log consists of events");
        text.lines().map(parse).collect()
    }

    fn about_process(&self, kind: EventKind, pid: u32) {
        self.write(&Event {
            at_ns: now_ns(),
            pid,
            hold: 0,
            kind,
            mode: Mode::Read,
            token: 0,
            key: "-".to_owned(),
        });
    }

    fn append(&self, kind: EventKind, at_ns: u64, key: &str, mode: Mode, token: u64, hold: u64) {
        self.write(&Event {
            at_ns,
            pid: std::process::id(),
            hold,
            kind,
            mode,
            token,
            key: key.to_owned(),
        });
    }

    fn write(&self, event: &Event) {
        let line = format!("{event}\n");
        (&self.file)
            .write_all(line.as_bytes())
            .expect("the log is writable");
    }
}
