//! One line of the event log.

use std::{fmt, str::FromStr};

/// Whether a hold shares or excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Shared with other readers.
    Read,
    /// Not shared.
    Write,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A hold began: written after the lock was granted.
    Enter,
    /// A hold ended: written before the lock was released.
    Exit,
    /// A hold ended because its lease did; whatever its process logs of it afterwards does not count.
    Lost,
    /// A process was stopped (SIGSTOP). A hold that is [`Lost`](Self::Lost) when the process runs again ended here;
    /// one that exits in order lasted through the pause. Written by who stopped it.
    Paused,
    /// A process was killed, which ended all its holds. Written by who killed it.
    Killed,
}

/// One event of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds of the host's boot-time clock.
    pub at_ns: u64,
    /// The process.
    pub pid: u32,
    /// The hold's number in its process; 0 in an event about the whole process.
    pub hold: u64,
    /// What happened.
    pub kind: EventKind,
    /// Shared or exclusive.
    pub mode: Mode,
    /// The fencing token.
    pub token: u64,
    /// The lock's name.
    pub key: String,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            EventKind::Enter => "enter",
            EventKind::Exit => "exit",
            EventKind::Lost => "lost",
            EventKind::Paused => "paused",
            EventKind::Killed => "killed",
        };
        let mode = match self.mode {
            Mode::Read => "read",
            Mode::Write => "write",
        };
        let Self {
            at_ns,
            pid,
            hold,
            token,
            key,
            ..
        } = self;
        write!(f, "{at_ns} {pid} {hold} {kind} {mode} {token} {key}")
    }
}

impl FromStr for Event {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let wrong = || format!("not an event: {line:?}");
        let fields: Vec<&str> = line.splitn(7, ' ').collect();
        let [at_ns, pid, hold, kind, mode, token, key] = fields[..] else {
            return Err(wrong());
        };
        Ok(Self {
            at_ns: at_ns.parse().map_err(|_| wrong())?,
            pid: pid.parse().map_err(|_| wrong())?,
            hold: hold.parse().map_err(|_| wrong())?,
            kind: match kind {
                "enter" => EventKind::Enter,
                "exit" => EventKind::Exit,
                "lost" => EventKind::Lost,
                "paused" => EventKind::Paused,
                "killed" => EventKind::Killed,
                _ => return Err(wrong()),
            },
            mode: match mode {
                "read" => Mode::Read,
                "write" => Mode::Write,
                _ => return Err(wrong()),
            },
            token: token.parse().map_err(|_| wrong())?,
            key: key.to_owned(),
        })
    }
}
