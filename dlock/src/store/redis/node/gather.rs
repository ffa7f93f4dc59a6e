//! One write for what many tasks send.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::parts::Parts;
use crate::clock::Instant;

/// From how many requests under way on, writing waits for more: fewer tasks have little to gain, and
/// would pay with a turn through the scheduler.
const CROWD: usize = 4;

/// The number of requests under way on a connection, and above it how often its driver has run. One number, so that a
/// request that counts itself learns the other on the way.
#[derive(Debug, Clone, Default)]
pub(super) struct UnderWay(Arc<AtomicU64>);

const TURN: u64 = 1 << 32;

impl UnderWay {
    /// One more, until the result is dropped.
    pub(super) fn enter(&self) -> Entered<'_> {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        Entered {
            under_way: self,
            turns: before / TURN,
        }
    }

    fn run(&self) {
        self.0.fetch_add(TURN, Ordering::Relaxed);
    }

    fn count(&self) -> usize {
        usize::try_from(self.0.load(Ordering::Relaxed) % TURN).unwrap_or(usize::MAX)
    }

    fn is_crowd(&self) -> bool {
        self.count() >= CROWD
    }
}

/// One request under way.
#[derive(Debug)]
#[must_use = "dropping it ends the request"]
pub(super) struct Entered<'a> {
    under_way: &'a UnderWay,
    turns: u64,
}

impl Entered<'_> {
    /// Whether the driver has run since.
    pub(super) fn is_seen(&self) -> bool {
        self.under_way.0.load(Ordering::Relaxed) / TURN != self.turns
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.under_way.0.fetch_sub(1, Ordering::Relaxed);
    }
}

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
        if this.parts.is_empty() {
            let stream = Pin::new(&mut this.stream);
            if !this.under_way.is_crowd() {
                return stream.poll_read(cx, buffer);
            }
            ready!(this.parts.fill(|bytes| stream.poll_read(cx, bytes)))?;
        } else if this.parts.pause(Instant::now()) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let under_way = this.under_way.count();
        this.parts.hand_on(Instant::now(), under_way, buffer);
        Poll::Ready(Ok(()))
    }
}
