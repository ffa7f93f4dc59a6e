//! The runtime of this process's own: one thread, started with the first client, for what must neither end nor stand still
//! with a runtime of the user's. Where there is no such runtime, timers and tasks are its as well.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread, ThreadId};

use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle, worker_index};

/// The thread's runtime, and the thread.
static OWN: OnceLock<(Handle, ThreadId)> = OnceLock::new();

/// Starts the thread, unless it runs already.
pub(crate) fn start() -> io::Result<Handle> {
    static STARTING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = STARTING.lock();
    if let Some(handle) = own() {
        return Ok(handle.clone());
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let thread = thread::Builder::new()
        .name("dlock".into())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    OWN.get_or_init(|| (handle.clone(), thread.thread().id()));
    Ok(handle)
}

/// The thread's runtime, once it has been started.
pub(crate) fn own() -> Option<&'static Handle> {
    OWN.get().map(|(handle, _)| handle)
}

/// Whether this is the thread.
pub(crate) fn is_here() -> bool {
    OWN.get()
        .is_some_and(|(_, own)| *own == thread::current().id())
}

/// Does what needs a runtime: in this thread's, or in our own where it has none.
#[inline]
pub(crate) fn within<T>(run: impl FnOnce() -> T) -> T {
    // To look at the handle is to clone it, which all workers of a runtime do at the same place.
    if worker_index().is_some() || Handle::try_current().is_ok() {
        return run();
    }
    let _entered = own().map(Handle::enter);
    run()
}

/// Polls on this thread and sleeps in between. Its timers are our own, as those of this thread's runtime may stand still
/// meanwhile.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let _entered = own().map(Handle::enter);
    let mut future = pin!(future);
    let unpark = Arc::new(Unpark {
        thread: thread::current(),
        woken: AtomicBool::new(true),
    });
    let waker = Waker::from(Arc::clone(&unpark));
    let mut cx = Context::from_waker(&waker);
    loop {
        while !unpark.woken.swap(false, Ordering::AcqRel) {
            thread::park();
        }
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
}

/// Says so itself whether it was woken: the thread may wait for something else while it polls, and wake up for both.
struct Unpark {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}
