//! The locks that the running task holds through annotated functions.

use std::cell::RefCell;

use tokio::task::{Id, try_id};

use super::{CallGuard, CallMutexGuard};
use crate::key::LockKey;
use crate::{Client, Error, ErrorKind, LockKind, LockMode};

thread_local! {
    /// What the tasks hold that are being polled on this thread: the innermost call comes last.
    static ENTERED: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// A call whose body is running.
struct Frame {
    /// The lock that it took last.
    innermost: CallGuard,
    /// Which task that is: a body may run others on its thread, with a runtime of its own, to which the lock does not belong.
    task: Option<Id>,
}

/// Looks at what the running task holds, from the innermost call outwards. A call that has been moved to another task has
/// nothing of its former callers' there. `None` on a thread that is ending.
fn look<T>(run: impl FnOnce(&mut dyn Iterator<Item = &CallGuard>) -> T) -> Option<T> {
    let look = |frames: &RefCell<Vec<Frame>>| {
        let frames = frames.borrow();
        let own = |frame: &&Frame| frame.task == try_id();
        let calls = frames.iter().rev().take_while(own);
        run(&mut calls.map(|frame| &frame.innermost))
    };
    ENTERED.try_with(look).ok()
}

/// The innermost lock of the annotated functions that are running in this task. Skips plain mutexes, which have no fencing token: see
/// [`current_mutex`].
///
/// A spawned Tokio task does not inherit the lock. Of several `keys`, this returns the lock that was taken last; `guard = ..` binds all.
///
/// ```
/// # use dlock::{Client, Error, LockMode, distributed_lock};
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
pub fn current() -> Option<CallGuard> {
    innermost(true)
}

/// The innermost plain mutex (`lock = "mutex"`) of the annotated functions that are running in this task.
///
/// ```
/// # use dlock::{Client, Error, distributed_lock};
/// #[distributed_lock(key = "stock", lock = "mutex")]
/// async fn restock() -> Result<(), Error> {
///     write_row().await
/// }
///
/// async fn write_row() -> Result<(), Error> {
///     let lock = dlock::current_mutex().expect("called under a mutex");
///     lock.check()
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// # dlock::install(Client::connect("memory://").await?);
/// # restock().await
/// # }
/// ```
#[must_use]
pub fn current_mutex() -> Option<CallMutexGuard> {
    innermost(false).map(CallMutexGuard::new)
}

/// The lock that the innermost call took last, of those with tokens, or of those without.
fn innermost(has_token: bool) -> Option<CallGuard> {
    let wanted = |held: &&CallGuard| held.key().kind().has_tokens() == has_token;
    look(|mut calls| Iterator::find(&mut calls, wanted).cloned()).flatten()
}

/// Whether the running task holds anything.
pub(super) fn holds_any() -> bool {
    look(|calls| calls.next().is_some()).unwrap_or(false)
}

/// Makes `held`, if it is one, the current lock until the result is dropped.
pub(super) fn enter(held: &mut Option<CallGuard>) -> Option<Entered<'_>> {
    let innermost = held.take()?;
    let task = try_id();
    let push = |frames: &RefCell<Vec<Frame>>| frames.borrow_mut().push(Frame { innermost, task });
    ENTERED.try_with(push).ok()?;
    Some(Entered { held })
}

/// Leaves the lock again, also when the body panics.
pub(super) struct Entered<'a> {
    /// Gets it back.
    held: &'a mut Option<CallGuard>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let frame = ENTERED.with_borrow_mut(Vec::pop);
        *self.held = frame.map(|frame| frame.innermost);
    }
}

/// Whether the call that took the lock of `held`, an outer one, is a caller of what runs now.
pub(super) fn is_within(held: &CallGuard) -> bool {
    look(|calls| {
        calls
            .flat_map(CallGuard::of_call)
            .any(|outer| outer.took(held))
    })
    .unwrap_or(false)
}

/// The hold of the running task under which `key` can be entered once more in `mode`.
///
/// # Errors
///
/// `would_deadlock` when the task would wait for itself, as it reads what it now wants to write, or holds as one kind of mutex
/// what it wants as the other; and on a thread that is ending.
pub(super) fn reenter(
    client: &Client,
    key: &LockKey,
    mode: LockMode,
) -> Result<Option<CallGuard>, Error> {
    let enough = |held: &&CallGuard| {
        let strong = mode == LockMode::Read || held.mode() == LockMode::Write;
        strong && held.key().kind() == key.kind()
    };
    let looked = look(|calls| {
        let holds = calls.flat_map(CallGuard::of_call);
        let mut holds = holds.filter(|held| held.is(client, key)).peekable();
        let first = holds.peek().map(|held| held.key().kind());
        (first, holds.find(enough).cloned())
    });
    let (first, found) = looked.ok_or_else(Error::thread_is_ending)?;
    match (found, first) {
        (Some(held), _) => held.check().map(|()| Some(held.entered_again())),
        (None, None) => Ok(None),
        (None, Some(held)) => Err(would_wait_for_itself(key, held)),
    }
}

/// The error for a task that holds as one kind of lock, or for reading, what it wants as `key`.
fn would_wait_for_itself(key: &LockKey, held: LockKind) -> Error {
    let (name, wanted) = (key.name(), key.kind());
    let message = if held == wanted {
        format!(
            "lock `{name}` is held for reading by this very task, which now wants to write; \
             take it for writing in the outer function"
        )
    } else {
        format!(
            "mutex `{name}` is held by this very task as `lock = \"{held}\"`, which now wants it as `lock = \"{wanted}\"`; \
             write the same in both functions"
        )
    };
    Error::new(ErrorKind::WouldDeadlock, message)
}
