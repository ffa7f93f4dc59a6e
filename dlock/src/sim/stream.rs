//! The stream to a simulated server.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::world;

/// Bytes to a server and back. Dropping it closes it.
#[derive(Debug)]
pub struct Stream(u64);

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the simulation is over")
}

impl Stream {
    /// Connects.
    ///
    /// # Errors
    /// Whatever the simulated network says.
    pub async fn open(host: &str, port: u16) -> io::Result<Self> {
        let stream = Self(world().ok_or_else(gone)?.connect(host, port));
        poll_fn(|cx| world().ok_or_else(gone)?.poll_connected(stream.0, cx)).await?;
        Ok(stream)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let world = world().ok_or_else(gone)?;
        let bytes = ready!(world.poll_read(self.0, cx, buffer.remaining()))?;
        buffer.put_slice(&bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        world().ok_or_else(gone)?.write(self.0, bytes)?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(world) = world() {
            world.close(self.0);
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(world) = world() {
            world.close(self.0);
        }
    }
}
