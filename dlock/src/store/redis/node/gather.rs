//! The stream that a connection is driven over: one write for what many tasks send, and replies that are handed on a few at a
//! time.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::under_way::UnderWay;
use crate::clock::Instant;

/// A stream that, while many requests are under way, puts each write off until the tasks that can run
/// now have run: those whose replies came together send their next requests together. The task
/// that drives the connection would otherwise run after each of them and write a request at a time, and
/// system calls would be half of what a request costs.
///
/// Replies are handed on in parts then, and the tasks that a part wakes run before the next. If all of them
/// were, and all the next requests written, at once, the client would have nothing to do while the server
/// works, and the server nothing while the client does.
#[derive(Debug)]
pub(super) struct Gather<S> {
    stream: S,
    under_way: UnderWay,
    /// Whether a write waits for its turn.
    put_off: bool,
    parts: Parts,
}

impl<S> Gather<S> {
    pub(super) fn new(stream: S, under_way: UnderWay) -> Self {
        Self {
            stream,
            under_way,
            put_off: false,
            parts: Parts::default(),
        }
    }

    /// Pending once per write, and then woken behind the tasks that can run now.
    fn poll_turn(&mut self, cx: &Context<'_>) -> Poll<()> {
        self.under_way.run();
        self.put_off = !self.put_off && self.under_way.is_crowd();
        if self.put_off {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gather<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_turn(cx));
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_turn(cx));
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gather<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.under_way.run();
        let before = buffer.filled().len();
        if this.parts.is_empty() {
            let stream = Pin::new(&mut this.stream);
            if !this.under_way.is_crowd() {
                ready!(stream.poll_read(cx, buffer))?;
                return Poll::Ready(this.under_way.read(buffer.filled().len() - before));
            }
            ready!(this.parts.fill(|bytes| stream.poll_read(cx, bytes)))?;
        } else if this.parts.pause(Instant::now()) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let under_way = this.under_way.count();
        this.parts.hand_on(Instant::now(), under_way, buffer);
        Poll::Ready(this.under_way.read(buffer.filled().len() - before))
    }
}

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

    /// The parts that are handed on of `replies` that arrive at once, if each pause lasts so long.
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
