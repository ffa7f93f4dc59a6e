//! Telling without waiting for who reads: what watches a command does not stand still with a terminal.

use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use crate::output::tell;

/// How many lines may wait to be read; what comes then is left out.
const ROOM: usize = 256;

/// How long the last lines may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Lines on their way to the standard error; dropped, it waits a moment for the last of them.
#[derive(Debug)]
pub(super) struct Teller {
    lines: Option<SyncSender<String>>,
    told: Receiver<()>,
}

impl Teller {
    pub(super) fn start() -> Self {
        let (lines, to_tell) = sync_channel::<String>(ROOM);
        let (telling, told) = channel::<()>();
        thread::spawn(move || {
            let _telling = telling;
            for line in to_tell {
                tell(&line);
            }
        });
        Self {
            lines: Some(lines),
            told,
        }
    }

    pub(super) fn tell(&self, line: String) {
        if let Some(lines) = &self.lines {
            // If the reader is gone, the message has nowhere to go.
            let _ = lines.try_send(line);
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.lines = None;
        // It ends when the thread does.
        let _ = self.told.recv_timeout(LAST_WORDS);
    }
}
