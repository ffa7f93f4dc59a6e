//! What a task holds a lock by.

use std::cell::Cell;
use std::rc::Rc;

use dlock::__internals::{BootInstant, ServerToken};
use dlock::{
    CallGuard, ErrorKind, FencedMutexGuard, FencingToken, LossReason, MutexGuard, ReadGuard,
    WriteGuard,
};

/// Whatever a task holds a lock by.
#[derive(Debug)]
pub(crate) enum Guard {
    Read(ReadGuard),
    Write(WriteGuard),
    /// By the attribute; and whether their tokens mean anything: those of plain mutexes do not.
    Several(CallGuard, bool),
    Mutex(MutexGuard),
    Fenced(FencedMutexGuard),
    /// Without dlock, until its time is over by the clock of who has it.
    Foreign(Until),
}

/// A time that may be put off.
pub(crate) type Until = Rc<Cell<BootInstant>>;

impl Guard {
    /// Its token, if it has one.
    pub(crate) fn token(&self) -> Option<u64> {
        self.fencing_token().map(FencingToken::as_u64)
    }

    /// What the server named when it granted the hold, or when a slice of it began.
    pub(super) fn named(&self) -> Option<u64> {
        let token = self.fencing_token()?;
        Some(ServerToken::behind(token).as_u64())
    }

    fn fencing_token(&self) -> Option<FencingToken> {
        match self {
            Self::Read(guard) => Some(guard.fencing_token()),
            Self::Write(guard) => Some(guard.fencing_token()),
            Self::Several(held, has_tokens) => has_tokens.then(|| held.fencing_token()),
            Self::Fenced(guard) => Some(guard.fencing_token()),
            Self::Mutex(_) | Self::Foreign(_) => None,
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Read(guard) => guard.is_lost(),
            Self::Write(guard) => guard.is_lost(),
            Self::Several(held, _) => held.is_lost(),
            Self::Mutex(guard) => guard.is_lost(),
            Self::Fenced(guard) => guard.is_lost(),
            Self::Foreign(until) => BootInstant::now() >= until.get(),
        }
    }

    pub(super) fn is_one_of_several(&self) -> bool {
        matches!(self, Self::Several(..))
    }

    /// Whether its lease has run out. One of several may, while the others are waited for.
    pub(super) fn is_expired(&self) -> bool {
        !matches!(self, Self::Several(..)) && self.is_lost_by(LossReason::Expired)
    }

    /// Whether its client was shut down under it.
    pub(super) fn is_shut_down(&self) -> bool {
        self.is_lost_by(LossReason::Shutdown)
    }

    fn is_lost_by(&self, reason: LossReason) -> bool {
        let checked = match self {
            Self::Read(guard) => guard.check(),
            Self::Write(guard) => guard.check(),
            Self::Several(held, _) => held.check(),
            Self::Mutex(guard) => guard.check(),
            Self::Fenced(guard) => guard.check(),
            Self::Foreign(_) => return false,
        };
        checked.is_err_and(|error| error.kind() == ErrorKind::Lost(reason))
    }

    pub(crate) async fn lost(&self) -> LossReason {
        match self {
            Self::Read(guard) => guard.lost().await,
            Self::Write(guard) => guard.lost().await,
            Self::Several(held, _) => held.lost().await,
            Self::Mutex(guard) => guard.lost().await,
            Self::Fenced(guard) => guard.lost().await,
            Self::Foreign(_) => std::future::pending().await,
        }
    }
}
