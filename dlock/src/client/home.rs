//! The Tokio runtime a client lives on, and waiting for it from a thread that is not its.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread, ThreadId};

use tokio::runtime::{Handle, RuntimeFlavor};

use crate::error::{Error, ErrorKind};

/// Where the client's connections and background tasks run.
#[derive(Debug)]
pub(super) struct Home {
    runtime: Handle,
    built_on: ThreadId,
}

impl Home {
    /// The current runtime.
    pub(super) fn current() -> Self {
        Self {
            runtime: Handle::current(),
            built_on: thread::current().id(),
        }
    }

    /// Runs `future` while this thread does nothing else.
    ///
    /// # Errors
    ///
    /// `would_deadlock` on the one thread without which the client cannot go on.
    pub(super) fn wait<F: Future>(&self, future: F) -> Result<F::Output, Error> {
        let one_thread = self.runtime.runtime_flavor() == RuntimeFlavor::CurrentThread;
        if one_thread && thread::current().id() == self.built_on {
            return Err(Error::new(
                ErrorKind::WouldDeadlock,
                "this thread drives the Tokio runtime the client lives on, so waiting here would wait \
                 for ever: make the function async, or call it through \
                 `tokio::task::spawn_blocking`, or use a `dlock::blocking::Client`, or a \
                 multi-threaded runtime",
            ));
        }
        let inside = Handle::try_current().is_ok_and(|here| here.id() == self.runtime.id());
        if inside && !one_thread {
            // Another thread takes over what this one would have done for the runtime.
            return Ok(tokio::task::block_in_place(|| park_until(future)));
        }
        let _runtime = self.runtime.enter();
        Ok(park_until(future))
    }
}

/// Polls on this thread and sleeps in between.
fn park_until<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
