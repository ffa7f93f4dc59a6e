//! What the crate asks of the machine: the world that a simulation puts in place, and the stream to a server in it.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A task as the simulation gets it.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the crate asks of the machine. Whose clock, randomness or task is meant depends on which simulated process the
/// simulation lets run.
pub trait World {
    /// The clock of timers, from a beginning that is the same for the whole process.
    fn instant(&self) -> Duration;
    /// The boot clock.
    fn boot(&self) -> Duration;
    /// A random number.
    fn random(&self) -> u64;
    /// Starts a task, and names it.
    fn spawn(&self, task: Task) -> u64;
    /// Ends a task.
    fn abort(&self, task: u64);
    /// Wakes a task when the clock of timers shows `at`, and names the timer.
    fn set_timer(&self, at: Duration, waker: &Waker) -> u64;
    /// Forgets a timer that may have fired.
    fn clear_timer(&self, timer: u64);
    /// Begins to connect to a server, and names the connection.
    fn connect(&self, host: &str, port: u16) -> u64;
    /// Whether the connection is there.
    fn poll_connected(&self, stream: u64, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// Reads what has arrived; nothing at the stream's end.
    fn poll_read(
        &self,
        stream: u64,
        cx: &mut Context<'_>,
        most: usize,
    ) -> Poll<io::Result<Vec<u8>>>;
    /// Sends; there is always room.
    fn write(&self, stream: u64, bytes: &[u8]) -> io::Result<()>;
    /// Closes the connection.
    fn close(&self, stream: u64);
}

thread_local! {
    static WORLD: RefCell<Option<Rc<dyn World>>> = const { RefCell::new(None) };
}

/// Puts a world in place in this thread, or takes it away; the one before.
pub fn enter(world: Option<Rc<dyn World>>) -> Option<Rc<dyn World>> {
    WORLD.with(|slot| slot.replace(world))
}

/// The world of this thread. A value that is dropped after the end of the world finds none.
pub(super) fn world() -> Option<Rc<dyn World>> {
    WORLD.with(|slot| slot.borrow().clone())
}

/// The boot clock.
pub(crate) fn boot() -> Duration {
    world().map_or(Duration::ZERO, |world| world.boot())
}

/// A random number.
pub(crate) fn random() -> u64 {
    world().map_or(0, |world| world.random())
}

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
