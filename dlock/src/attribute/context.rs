//! The locks that the running task holds through annotated functions.

use std::cell::RefCell;

use tokio::task::{Id, try_id};

use super::Held;
use crate::key::LockKey;
use crate::{Client, Error, ErrorKind, Mode};

thread_local! {
    /// What the task that is being polled on this thread holds.
    static CURRENT: RefCell<Current> = const {
        RefCell::new(Current {
            innermost: None,
            task: None,
        })
    };
}

/// The innermost lock of a task.
struct Current {
    innermost: Option<Held>,
    /// Which task that is: a body may run others on its thread, with a runtime of its own, to which the lock does not belong.
    task: Option<Id>,
}

/// The lock under which the calling function runs, if an annotated function is running.
///
/// It belongs to the task: a task that Tokio spawned does not inherit it. Of several `keys` it is the one that
/// was taken last; name them with `guard = ..` to have them all.
///
/// ```
/// # use dlock::{Client, Error, Mode, distributed_lock};
/// #[distributed_lock(key = "stock")]
/// async fn restock() -> Result<(), Error> {
///     write_row().await
/// }
///
/// async fn write_row() -> Result<(), Error> {
///     if let Some(lock) = dlock::current() {
///         lock.check()?;
///         println!("fencing token {}", lock.fencing_token());
///     }
///     Ok(())
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// # dlock::install(Client::connect("memory://").await?);
/// # restock().await
/// # }
/// ```
#[must_use]
pub fn current() -> Option<Held> {
    CURRENT.with_borrow(|current| {
        let innermost = current.innermost.as_ref();
        innermost.filter(|_| current.task == try_id()).cloned()
    })
}

/// Makes `held`, if it is one, the current lock until the result is dropped.
pub(super) fn enter(held: &mut Option<Held>) -> Option<Entered<'_>> {
    held.is_some().then(|| {
        let mut task = try_id();
        exchange(held, &mut task);
        Entered { other: held, task }
    })
}

/// Restores the lock that was current before, also when the body panics.
pub(super) struct Entered<'a> {
    /// Keeps the previous lock while this lives, and gets the entered one back.
    other: &'a mut Option<Held>,
    /// The task to which that one belongs.
    task: Option<Id>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        exchange(self.other, &mut self.task);
    }
}

fn exchange(held: &mut Option<Held>, task: &mut Option<Id>) {
    CURRENT.with_borrow_mut(|current| {
        std::mem::swap(&mut current.innermost, held);
        std::mem::swap(&mut current.task, task);
    });
}

/// The hold of the running task under which `key` can be entered once more in `mode`.
///
/// # Errors
///
/// `would_deadlock` when the task reads what it now wants to write: it would wait for itself.
pub(super) fn reenter(client: &Client, key: &LockKey, mode: Mode) -> Result<Option<Held>, Error> {
    let innermost = current();
    let mut holds = std::iter::successors(innermost.as_ref(), |held| held.outer())
        .filter(|held| held.is(client, key));
    let Some(nearest) = holds.next() else {
        return Ok(None);
    };
    let enough = |held: &&Held| mode == Mode::Read || held.mode() == Mode::Write;
    match std::iter::once(nearest).chain(holds).find(enough) {
        Some(held) => held
            .check()
            .map(|()| Some(held.entered_again(innermost.clone()))),
        None => Err(Error::new(
            ErrorKind::WouldDeadlock,
            format!(
                "lock `{}` is held for reading by this very task, which now wants to write; \
                 take it for writing in the outer function",
                key.name()
            ),
        )),
    }
}
