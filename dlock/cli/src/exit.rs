//! How the tool ends.

use std::io;
use std::process::ExitCode;

use dlock::{Error, ErrorKind};
use serde_json::json;

use crate::hidden::plain;
use crate::output::tell;

/// A code of `sysexits.h`, or the command's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit(pub(crate) u8);

impl Exit {
    pub(crate) const DONE: Self = Self(0);
    pub(crate) const NO_SUCH_HOLD: Self = Self(1);
    const USAGE: Self = Self(64);
    const UNAVAILABLE: Self = Self(69);
    const SOFTWARE: Self = Self(70);
    pub(crate) const BUSY: Self = Self(75);
    pub(crate) const LOST: Self = Self(76);
    const NO_PERMISSION: Self = Self(77);
    pub(crate) const CONFIG: Self = Self(78);
    pub(crate) const NOT_EXECUTABLE: Self = Self(126);
    pub(crate) const NOT_FOUND: Self = Self(127);

    fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::InvalidKey | ErrorKind::InvalidConfig | ErrorKind::ForeignKey => {
                Self::CONFIG
            }
            _ if error.is_busy() => Self::BUSY,
            ErrorKind::Timeout(_) | ErrorKind::Unavailable => Self::UNAVAILABLE,
            ErrorKind::Lost(_) => Self::LOST,
            ErrorKind::Unauthorized => Self::NO_PERMISSION,
            _ => Self::SOFTWARE,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.0.into()
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    exit: Exit,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            exit,
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::USAGE, message)
    }

    pub(crate) fn report(self, as_json: bool) -> ExitCode {
        if as_json {
            tell(&json!({"error": self.message, "exit": self.exit.0}).to_string());
        } else {
            tell(&format!("dlock: {}", plain(&self.message)));
        }
        self.exit.into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(Exit::of(&error), error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(Exit::SOFTWARE, error.to_string())
    }
}

/// Prints what clap has to say: help to stdout, mistakes to stderr.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // There is nowhere to report that stdout or stderr are closed.
    let _ = error.print();
    let exit = if error.use_stderr() {
        Exit::USAGE
    } else {
        Exit::DONE
    };
    exit.into()
}
