//! Replies, handed on a few at a time.

use std::time::{Duration, Instant};

use tokio::io::ReadBuf;

/// In how many parts, about, the replies to all requests under way are handed on (measured: with 8, client and
/// server waited for each other half of the time).
const PARTS: usize = 24;

/// A pause that lasts longer than this shows that the tasks have enough to do.
const LONG: Duration = Duration::from_micros(500);

/// What was read from the stream and not handed on yet.
#[derive(Debug, Default)]
pub(super) struct Parts {
    bytes: Vec<u8>,
    filled: usize,
    handed: usize,
    /// Since when the tasks that the last part has woken may run.
    pause: Option<Instant>,
}

impl Parts {
    /// More than the replies to all requests under way mostly have.
    const CAPACITY: usize = 8192;

    pub(super) fn is_empty(&self) -> bool {
        self.handed == self.filled
    }

    /// Takes in what `read` puts into the buffer.
    pub(super) fn fill<T>(&mut self, read: impl FnOnce(&mut ReadBuf<'_>) -> T) -> T {
        self.bytes.resize(Self::CAPACITY, 0);
        let mut buffer = ReadBuf::new(&mut self.bytes);
        let outcome = read(&mut buffer);
        self.filled = buffer.filled().len();
        self.handed = 0;
        self.pause = None;
        outcome
    }

    /// Starts a pause unless there was one since the last part; whether it did.
    pub(super) fn pause(&mut self) -> bool {
        let starts = self.handed > 0 && self.pause.is_none();
        if starts {
            self.pause = Some(Instant::now());
        }
        starts
    }

    /// Hands on the next part, or all after a long pause.
    pub(super) fn hand_on(&mut self, under_way: usize, buffer: &mut ReadBuf<'_>) {
        let rest = &self.bytes[self.handed..self.filled];
        let was_long = self
            .pause
            .take()
            .is_some_and(|start| start.elapsed() > LONG);
        // Most replies are one line.
        let lines = if was_long {
            usize::MAX
        } else {
            under_way.div_ceil(PARTS)
        };
        let ends = (1..).zip(rest).filter(|(_, byte)| **byte == b'\n');
        let end = ends.map(|(end, _)| end).nth(lines.max(1) - 1);
        let length = end.unwrap_or(rest.len()).min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        self.handed += length;
    }
}
