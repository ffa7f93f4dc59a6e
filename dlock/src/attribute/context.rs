//! The locks that the running task holds through annotated functions.

use std::cell::RefCell;

use tokio::task::{Id, try_id};

use super::Held;
use crate::key::LockKey;
use crate::{Client, Error, ErrorKind, Mode};

thread_local! {
    /// What the tasks hold that are being polled on this thread: the innermost call comes last.
    static ENTERED: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// A call whose body is running.
struct Frame {
    /// The lock that it took last.
    innermost: Held,
    /// Which task that is: a body may run others on its thread, with a runtime of its own, to which the lock does not belong.
    task: Option<Id>,
}

/// Looks at what the running task holds, from the innermost call outwards. A call that has been moved to another task has
/// nothing of its former callers' there. `None` on a thread that is ending, of which nobody knows any more.
fn look<T>(run: impl FnOnce(&mut dyn Iterator<Item = &Held>) -> T) -> Option<T> {
    let look = |frames: &RefCell<Vec<Frame>>| {
        let frames = frames.borrow();
        let own = |frame: &&Frame| frame.task == try_id();
        let calls = frames.iter().rev().take_while(own);
        run(&mut calls.map(|frame| &frame.innermost))
    };
    ENTERED.try_with(look).ok()
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
    look(|calls| calls.next().cloned()).flatten()
}

/// Makes `held`, if it is one, the current lock until the result is dropped.
pub(super) fn enter(held: &mut Option<Held>) -> Option<Entered<'_>> {
    let innermost = held.take()?;
    let task = try_id();
    let push = |frames: &RefCell<Vec<Frame>>| frames.borrow_mut().push(Frame { innermost, task });
    ENTERED.try_with(push).ok()?;
    Some(Entered { held })
}

/// Leaves the lock again, also when the body panics.
pub(super) struct Entered<'a> {
    /// Gets it back.
    held: &'a mut Option<Held>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let frame = ENTERED.with_borrow_mut(Vec::pop);
        *self.held = frame.map(|frame| frame.innermost);
    }
}

/// Whether the call that took the lock of `held`, an outer one, is a caller of what runs now.
pub(super) fn is_within(held: &Held) -> bool {
    look(|calls| calls.flat_map(Held::of_call).any(|outer| outer.took(held))).unwrap_or(false)
}

/// The hold of the running task under which `key` can be entered once more in `mode`.
///
/// # Errors
///
/// `would_deadlock` when the task reads what it now wants to write: it would wait for itself; and on a thread that is ending.
pub(super) fn reenter(client: &Client, key: &LockKey, mode: Mode) -> Result<Option<Held>, Error> {
    let enough = |held: &&Held| mode == Mode::Read || held.mode() == Mode::Write;
    let looked = look(|calls| {
        let holds = calls.flat_map(Held::of_call);
        let mut holds = holds.filter(|held| held.is(client, key)).peekable();
        (holds.peek().is_some(), holds.find(enough).cloned())
    });
    let (holds_it, found) = looked.ok_or_else(Error::thread_is_ending)?;
    match found {
        Some(held) => held.check().map(|()| Some(held.entered_again())),
        None if !holds_it => Ok(None),
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
