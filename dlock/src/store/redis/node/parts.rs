//! Replies, handed on a few at a time.

use std::time::Duration;

use tokio::io::ReadBuf;

use crate::clock::Instant;

/// In how many parts, about, the replies to all requests under way are handed on (measured: with 8 instead of
/// 16, 64 tasks had two thirds of the throughput).
const PARTS: usize = 24;

/// How many replies a part has at least: with several servers, few come from each, and the others are busy meanwhile.
const FEWEST: usize = 4;

/// A pause that lasts longer than this shows that the tasks have enough to do.
const LONG: Duration = Duration::from_micros(500);

/// What was read from the stream and not handed on yet.
#[derive(Debug, Default)]
pub(super) struct Parts {
    bytes: Vec<u8>,
    filled: usize,
    /// How many lines that is, and one.
    lines: usize,
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
        self.lines = buffer.filled().split(|byte| *byte == b'\n').count();
        self.handed = 0;
        self.pause = None;
        outcome
    }

    /// Starts a pause unless there was one since the last part; whether it did.
    pub(super) fn pause(&mut self, now: Instant) -> bool {
        let starts = self.handed > 0 && self.pause.is_none();
        if starts {
            self.pause = Some(now);
        }
        starts
    }

    /// Hands on the next part, or all after a long pause.
    pub(super) fn hand_on(&mut self, now: Instant, under_way: usize, buffer: &mut ReadBuf<'_>) {
        let rest = &self.bytes[self.handed..self.filled];
        let was_long = self.pause.take().is_some_and(|start| now - start > LONG);
        // Most replies are one line. One of many does not take more parts than many of one.
        let lines = if was_long {
            usize::MAX
        } else {
            under_way.max(self.lines).div_ceil(PARTS).max(FEWEST)
        };
        let ends = (1..).zip(rest).filter(|(_, byte)| **byte == b'\n');
        let end = ends.map(|(end, _)| end).nth(lines - 1);
        let length = end.unwrap_or(rest.len()).min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        self.handed += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is handed on, part by part, of `replies` that come at once, if each pause lasts so long.
    fn parts_of(replies: &str, under_way: usize, pause: Duration) -> Vec<String> {
        let mut now = Instant::now();
        let mut parts = Parts::default();
        parts.fill(|buffer| buffer.put_slice(replies.as_bytes()));
        let mut handed = Vec::new();
        while !parts.is_empty() {
            assert_eq!(parts.pause(now), !handed.is_empty(), "between two parts");
            assert!(!parts.pause(now), "one pause is enough");
            now += pause;
            let mut bytes = [0; 8192];
            let mut buffer = ReadBuf::new(&mut bytes);
            parts.hand_on(now, under_way, &mut buffer);
            handed.push(String::from_utf8(buffer.filled().to_vec()).expect("as it came"));
        }
        handed
    }

    #[test]
    fn replies_are_handed_on_whole_in_order_and_a_few_at_a_time() {
        let replies = ":1\r\n".repeat(64);
        let parts = parts_of(&replies, 64, LONG);
        assert_eq!(parts.concat(), replies);
        assert!(parts.len() > 8, "{}", parts.len());
        assert!(parts.iter().all(|part| part.ends_with('\n')), "{parts:?}");
    }

    #[test]
    fn a_long_reply_takes_no_more_parts_than_many_short_ones() {
        let reply = "$3\r\nabc\r\n".repeat(800);
        let parts = parts_of(&reply, 4, LONG);
        assert_eq!(parts.concat(), reply);
        assert!(parts.len() <= PARTS, "{}", parts.len());
    }

    #[test]
    fn an_incomplete_line_is_not_kept_back() {
        assert_eq!(parts_of(":1\r\n:17", 64, LONG).concat(), ":1\r\n:17");
    }

    #[test]
    fn tasks_that_run_for_long_get_the_rest_in_one_piece() {
        let replies = ":1\r\n".repeat(64);
        assert_eq!(parts_of(&replies, 64, LONG * 2).len(), 2);
    }
}
