//! The Tokio runtime that a client was built on, waiting for the client from a thread, and the name of the host.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::thread::{self, ThreadId};

use tokio::runtime::{Handle, Id, RuntimeFlavor};
use tokio::task;

use crate::background;
use crate::error::{Error, ErrorKind};

thread_local! {
    /// The runtime that has refused to let this thread wait while it runs a `LocalSet`.
    static REFUSED_BY: Cell<Option<Id>> = const { Cell::new(None) };
}

/// Where the client was built: on a runtime of the user's, or on our own.
#[derive(Debug)]
pub(super) struct Home {
    runtime: Option<Id>,
    built_on: ThreadId,
}

impl Home {
    /// The current runtime.
    pub(super) fn current() -> Self {
        let runtime = Handle::try_current().ok().map(|here| here.id());
        let own = background::own().map(Handle::id);
        Self {
            runtime: runtime.filter(|here| Some(*here) != own),
            built_on: thread::current().id(),
        }
    }

    /// Runs `future` while this thread does nothing else.
    ///
    /// # Errors
    ///
    /// `would_deadlock` on the one thread without which the client's tasks and those of its user cannot go on, and on one that
    /// is ending.
    pub(super) fn wait<F: Future>(&self, future: F) -> Result<F::Output, Error> {
        let here = match Handle::try_current() {
            Ok(here) => Some(here),
            Err(error) if error.is_thread_local_destroyed() => {
                return Err(Error::thread_is_ending());
            }
            Err(_) => None,
        };
        let here = here.filter(|here| Some(here.id()) == self.runtime);
        match here.as_ref().map(Handle::runtime_flavor) {
            // Nothing that the client waits for depends on this thread.
            None => Ok(background::block_on(future)),
            Some(RuntimeFlavor::CurrentThread) => {
                if thread::current().id() == self.built_on {
                    return Err(would_deadlock(
                        "this thread drives the Tokio runtime the client lives on",
                    ));
                }
                Ok(background::block_on(future))
            }
            // Only a task may be in the way of others.
            Some(_) if task::try_id().is_none() => Ok(background::block_on(future)),
            Some(_) => in_place(here.map(|here| here.id()), future),
        }
    }
}

/// Another thread takes over what this one would have done for the runtime; in a `LocalSet` there is none that could.
fn in_place<F: Future>(here: Option<Id>, future: F) -> Result<F::Output, Error> {
    let refused = || would_deadlock("this thread runs a `LocalSet`");
    if here.is_some() && REFUSED_BY.get() == here {
        return Err(refused());
    }
    let future = pin!(future);
    let mut entered = false;
    // Tokio tells in no other way, and says so on standard error, for which once is enough.
    let waited = catch_unwind(AssertUnwindSafe(|| {
        task::block_in_place(|| {
            entered = true;
            background::block_on(future)
        })
    }));
    match waited {
        Ok(output) => Ok(output),
        Err(panic) if entered => resume_unwind(panic),
        Err(_) => {
            REFUSED_BY.set(here);
            Err(refused())
        }
    }
}

fn would_deadlock(because: &str) -> Error {
    Error::new(
        ErrorKind::WouldDeadlock,
        format!(
            "{because}, so waiting here might wait for ever: make the function async, or call it through \
             `tokio::task::spawn_blocking`, or use a `dlock::blocking::Client`, or a multi-threaded \
             runtime"
        ),
    )
}

/// `<host name>:<process id>`, the host name cut to 16 characters.
pub(crate) fn name_and_pid() -> String {
    let uname = rustix::system::uname();
    let host: String = uname
        .nodename()
        .to_string_lossy()
        .chars()
        .take(16)
        .collect();
    format!("{host}:{}", std::process::id())
}
