//! The locks that the running task holds through annotated functions.

use std::cell::RefCell;

use super::Held;
use crate::key::LockKey;
use crate::{Client, Error, ErrorKind, Mode};

thread_local! {
    /// The innermost lock of the task that is being polled on this thread.
    static CURRENT: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// The lock under which the calling function runs, if an annotated function is running.
///
/// It belongs to the task: a spawned task does not inherit it. Of several `keys` it is the one that
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
    CURRENT.with_borrow(Clone::clone)
}

/// Makes `held`, if it is one, the current lock until the result is dropped.
pub(super) fn enter(held: &mut Option<Held>) -> Option<Entered<'_>> {
    held.is_some().then(|| {
        exchange(held);
        Entered { other: held }
    })
}

/// Restores the lock that was current before, also when the body panics.
pub(super) struct Entered<'a> {
    /// Keeps the previous lock while this lives, and gets the entered one back.
    other: &'a mut Option<Held>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        exchange(self.other);
    }
}

fn exchange(held: &mut Option<Held>) {
    CURRENT.with_borrow_mut(|current| std::mem::swap(current, held));
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
