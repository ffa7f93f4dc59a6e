//! One write for what many tasks send.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::parts::Parts;
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
