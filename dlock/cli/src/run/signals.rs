//! Signals to this process.

use std::io;

use rustix::process::Signal;
use tokio::signal::unix::{self, SignalKind, signal};

use crate::exit::Exit;

/// The signals that are passed on.
pub(super) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    hang_up: unix::Signal,
    quit: unix::Signal,
}

/// One that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Came(pub(super) Signal);

impl Came {
    /// How a process ends that this signal ended.
    pub(super) fn exit(self) -> Exit {
        Exit(128 + u8::try_from(self.0.as_raw()).unwrap_or(0))
    }

    /// Whether a terminal sends it to all processes in front of it.
    pub(super) fn is_from_keyboard(self) -> bool {
        self.0 == Signal::INT || self.0 == Signal::QUIT
    }
}

impl Signals {
    /// From now on these signals do not end the process.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    pub(super) async fn next(&mut self) -> Came {
        let signal = tokio::select! {
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.hang_up.recv() => Signal::HUP,
            _ = self.quit.recv() => Signal::QUIT,
        };
        Came(signal)
    }
}
