//! The locks that the running function holds: a guard of one lock with or without a fencing token, and `Holds`, the trait of what
//! `guard = name` can bind: one guard, several, or perhaps none.

use std::fmt;
use std::future::pending;
use std::iter::successors;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::select_all;
use tokio::sync::Notify;

use crate::hold::Hold;
use crate::key::LockKey;
use crate::{Client, Error, ErrorKind, FencingToken, LockMode, LossReason};

/// The lock under which a call of an annotated function runs.
///
/// `guard = name` binds it in the body, and [`current`](crate::current) returns it. The call keeps the lock, not this guard: dropping a
/// clone releases nothing, and the end of the function releases the lock and tells all clones.
#[derive(Clone)]
pub struct CallGuard(Arc<Level>);

/// One lock of a call.
struct Level {
    source: Source,
    /// The one that the same call had taken before.
    before: Option<CallGuard>,
}

/// Where a call has its lock from.
enum Source {
    Own(Own),
    /// Of an outer call, which took it.
    Outer(CallGuard),
}

/// A hold that a call took, and whether the call is over.
struct Own {
    client: Client,
    hold: Arc<Hold>,
    /// Of this call; a hold that is passed on among tasks has more than one.
    token: FencingToken,
    over: AtomicBool,
    ended: Notify,
}

impl CallGuard {
    pub(super) fn new(
        client: Client,
        hold: Arc<Hold>,
        token: FencingToken,
        before: Option<Self>,
    ) -> Self {
        let source = Source::Own(Own {
            client,
            hold,
            token,
            over: AtomicBool::new(false),
            ended: Notify::new(),
        });
        Self(Arc::new(Level { source, before }))
    }

    /// One more handle to this hold, for a call within the call that took it.
    pub(super) fn entered_again(&self) -> Self {
        let owner = match &self.0.source {
            Source::Own(_) => self,
            Source::Outer(owner) => owner,
        };
        let source = Source::Outer(owner.clone());
        Self(Arc::new(Level {
            source,
            before: None,
        }))
    }

    fn own(&self) -> &Own {
        match &self.0.source {
            Source::Own(own) => own,
            Source::Outer(owner) => owner.own(),
        }
    }

    /// The call that took the lock gives it back.
    pub(super) fn end(&self) {
        if !self.own().over.swap(true, Ordering::AcqRel) {
            self.own().ended.notify_waiters();
        }
    }

    /// The body has come to its end without the lock.
    pub(super) fn ended_late(&self) {
        self.own().hold.metrics.ended_late();
    }

    fn is_over(&self) -> bool {
        self.own().over.load(Ordering::Acquire)
    }

    /// The token to send along with what the lock protects.
    #[must_use]
    pub fn fencing_token(&self) -> FencingToken {
        self.own().token
    }

    /// Whether the lock is held for reading or for writing.
    #[must_use]
    pub fn mode(&self) -> LockMode {
        self.own().hold.terms.mode
    }

    /// The lock's key; its name is [`LockKey::name`].
    #[must_use]
    pub fn key(&self) -> &LockKey {
        &self.own().hold.key
    }

    /// How long this process may still rely on the lock if no renewal succeeds; zero if it is held no longer.
    #[must_use]
    pub fn lease_left(&self) -> Duration {
        if self.is_over() {
            return Duration::ZERO;
        }
        self.own().hold.lease_left()
    }

    /// Whether the lock is held no longer: the lease is gone, or the function has returned. Reads a
    /// clock and sends nothing.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.is_over() || self.own().hold.loss().is_some()
    }

    /// An error if the lock is held no longer, for use with `?` before a step that cannot be undone.
    ///
    /// # Errors
    ///
    /// [`is_lost`](Error::is_lost) when another client may hold the lock.
    pub fn check(&self) -> Result<(), Error> {
        self.own().hold.check()?;
        if self.is_over() {
            return Err(Error::new(
                ErrorKind::Lost(LossReason::Removed),
                format!(
                    "lock `{}` was released when the function that took it returned; finish inside \
                     the function what needs the lock",
                    self.key().name()
                ),
            ));
        }
        Ok(())
    }

    /// The error for a call that has been moved away from the one whose lock it had entered again.
    pub(super) fn has_been_left(&self) -> Error {
        Error::new(
            ErrorKind::Lost(LossReason::Removed),
            format!(
                "lock `{}` is held by the function that began this call, and the call goes on elsewhere, in a spawned \
                 task perhaps; await it in that function, or begin it in the task, so that it takes the lock itself",
                self.key().name()
            ),
        )
    }

    /// Completes when the lock is held no longer, with the reason: [`Removed`](LossReason::Removed) if the function has returned.
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed.
    pub async fn lost(&self) -> LossReason {
        let ended = self.own().ended.notified();
        tokio::pin!(ended);
        // Listening comes before looking, or an end in between would go unheard.
        ended.as_mut().enable();
        if self.is_over() {
            return LossReason::Removed;
        }
        tokio::select! {
            reason = self.own().hold.lost() => reason,
            () = ended => LossReason::Removed,
        }
    }

    /// Completes with the loss of the hold, for a call that still has it.
    pub(super) async fn loss(&self) -> Error {
        let hold = &self.own().hold;
        loop {
            hold.lost().await;
            if let Err(error) = hold.check() {
                return error;
            }
        }
    }

    /// Whether this is the lock `key` of `client`; of a mutex, with a token or without.
    pub(super) fn is(&self, client: &Client, key: &LockKey) -> bool {
        self.key() == key && self.own().client.is_same(client)
    }

    /// Whether an outer call took the lock, which gives it back.
    pub(super) fn is_of_outer_call(&self) -> bool {
        matches!(self.0.source, Source::Outer(_))
    }

    /// This one, and those that its call had taken before.
    pub(super) fn of_call(&self) -> impl Iterator<Item = &Self> {
        successors(Some(self), |held| held.0.before.as_ref())
    }

    /// Whether the other one is this, entered again.
    pub(super) fn took(&self, other: &Self) -> bool {
        matches!(&other.0.source, Source::Outer(owner) if Arc::ptr_eq(&owner.0, &self.0))
    }
}

/// One line, for logs.
impl fmt::Debug for CallGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CallGuard {{ lock: {:?}, mode: {:?}, token: {}, lost: {} }}",
            self.key().name(),
            self.mode(),
            self.fencing_token(),
            self.is_lost()
        )
    }
}

/// The plain mutex under which an annotated function runs (`lock = "mutex"`): a [`CallGuard`] without a fencing token.
///
/// `guard = name` binds it, and [`current_mutex`](crate::current_mutex) returns it. It does not keep the mutex: the end of the function
/// releases the mutex, and all clones then report that.
#[derive(Clone)]
pub struct CallMutexGuard(CallGuard);

impl CallMutexGuard {
    pub(super) fn new(held: CallGuard) -> Self {
        Self(held)
    }

    /// The mutex's key, which is its name.
    #[must_use]
    pub fn key(&self) -> &LockKey {
        self.0.key()
    }

    /// How long this process may still rely on the mutex if no renewal succeeds; zero if it is held no longer.
    #[must_use]
    pub fn lease_left(&self) -> Duration {
        self.0.lease_left()
    }

    /// Whether the mutex is no longer held: the lease has ended, or the function has returned. Reads the clock and sends no
    /// request.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.is_lost()
    }

    /// An error if the mutex is held no longer, for use with `?` before a step that cannot be undone.
    ///
    /// # Errors
    ///
    /// [`is_lost`](Error::is_lost) if another program may hold the mutex.
    pub fn check(&self) -> Result<(), Error> {
        self.0.check()
    }

    /// Completes when the mutex is no longer held, with the reason: [`Removed`](LossReason::Removed) if the function has returned.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn lost(&self) -> LossReason {
        self.0.lost().await
    }
}

/// One line, for logs.
impl fmt::Debug for CallMutexGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CallMutexGuard {{ lock: {:?}, lost: {} }}",
            self.key().name(),
            self.is_lost()
        )
    }
}

/// What `guard = name` binds: a [`CallGuard`], a vector of them for `keys`, an option with `when`; for plain mutexes the same of
/// [`CallMutexGuard`].
pub trait Holds: Clone {
    /// The holds of plain mutexes, which have no tokens.
    type Plain;

    /// Each of the locks.
    fn each(&self) -> &[CallGuard];

    /// The locks without their tokens, which they have not.
    fn plain(self) -> Self::Plain;
}

impl Holds for CallGuard {
    type Plain = CallMutexGuard;

    fn each(&self) -> &[CallGuard] {
        std::slice::from_ref(self)
    }

    fn plain(self) -> CallMutexGuard {
        CallMutexGuard::new(self)
    }
}

impl Holds for Vec<CallGuard> {
    type Plain = Vec<CallMutexGuard>;

    fn each(&self) -> &[CallGuard] {
        self
    }

    fn plain(self) -> Vec<CallMutexGuard> {
        self.into_iter().map(CallMutexGuard::new).collect()
    }
}

impl<H: Holds> Holds for Option<H> {
    type Plain = Option<H::Plain>;

    fn each(&self) -> &[CallGuard] {
        self.as_ref().map_or(&[], Holds::each)
    }

    fn plain(self) -> Option<H::Plain> {
        self.map(Holds::plain)
    }
}

/// Completes when the first of them is lost.
pub(super) async fn first_loss(holds: impl Holds) -> Error {
    match holds.each() {
        [] => pending().await,
        [held] => held.loss().await,
        several => {
            let losses = several.iter().map(|held| Box::pin(held.loss()));
            let (error, _, _) = select_all(losses).await;
            error
        }
    }
}
