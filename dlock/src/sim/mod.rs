//! What a simulation puts in place of clocks, timers, randomness, tasks and the network: only in builds with
//! `--cfg dlock_sim`, of which no other part knows but [`clock`](crate::clock), [`random`](crate::random),
//! [`tasks`](crate::tasks) and the stream to a server.
//!
//! A simulation runs in one thread. It implements [`World`], enters it, and drives what is spawned.

mod stream;
mod tasks;
mod time;

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub use self::stream::Stream;
#[cfg(feature = "tls")]
pub use self::tasks::run_blocking;
pub use self::tasks::{
    AbortHandle, JoinError, JoinSet, Place, Whereabouts, spawn, start, wait_at_most, whereabouts,
};
pub use self::time::{Elapsed, Instant, Sleep, sleep, sleep_until, timeout, timeout_at};

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
fn world() -> Option<Rc<dyn World>> {
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
