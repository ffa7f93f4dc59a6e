//! What callers are told: in time, and true.

use dlock::{Error, ErrorKind, LossReason, TimeoutStep};

use super::Judges;
use super::belief::Belief;
use super::patience::Waiting;
use crate::engine::{Engine, MS, Nanos, ProcId, SECOND};
use crate::plan::{Patience, Plan};

/// How late an answer may be, without the difference of clocks.
const SLACK: Nanos = 50 * MS;

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Granted,
    Busy,
    Failed(ErrorKind),
    /// No task waited for it.
    Dropped,
}

impl Told {
    pub(crate) fn of<T>(outcome: Option<&Result<Option<T>, Error>>) -> Self {
        match outcome {
            Some(Ok(Some(_))) => Self::Granted,
            Some(Ok(None)) => Self::Busy,
            Some(Err(error)) if error.kind() == ErrorKind::Busy => Self::Busy,
            Some(Err(error)) => Self::Failed(error.kind()),
            None => Self::Dropped,
        }
    }
}

/// How long servers may take, for a caller that does not wait.
pub(super) fn most_for_a_try(plan: &Plan) -> Nanos {
    let each = plan.processes.iter();
    let most = each.map(|process| process.retry_for + process.response_timeout);
    most.max().unwrap_or(0)
}

impl Judges {
    /// A task that waited until now has an answer.
    pub(crate) fn look_at_answer(&self, engine: &Engine, number: u64, told: Told) {
        let now = engine.now();
        let Some((asked, waiting)) = self.who_waits_as(number) else {
            return;
        };
        if told != Told::Dropped {
            self.look_at_time(engine, asked, &waiting, told);
        }
        let calm = self.must_be_kept(now);
        match told {
            Told::Failed(kind)
                if calm && !is_expected(kind, waiting.patience) && !self.is_limited(kind) =>
            {
                let story = format!("{} is told: {kind:?}, and nothing is wrong", waiting.name());
                self.object("errors", now, story);
            }
            Told::Failed(kind) if self.is_quorum() && !self.refusals && !is_of_failures(kind) => {
                let story = format!("{} is told: {kind:?}", waiting.name());
                self.object("errors", now, story);
            }
            Told::Busy if calm && !self.was_busy(engine, number, asked, &waiting) => {
                let story = format!("{} is told that they are busy", waiting.name());
                self.object("answers", now, story);
            }
            _ => {}
        }
    }

    /// One of several may come to its limit while the others are waited for.
    fn is_limited(&self, kind: ErrorKind) -> bool {
        self.has_limits && kind == ErrorKind::Lost(LossReason::MaxHold)
    }

    /// No task waits longer than it wanted, nor is told so before.
    fn look_at_time(&self, engine: &Engine, asked: Nanos, waiting: &Waiting, told: Told) {
        let now = engine.now();
        let took = now - asked;
        let most = match waiting.patience {
            Patience::For(patience) => patience,
            Patience::Try => self.most_for_a_try,
            Patience::Forever => Nanos::MAX / 2,
        };
        // Locks of several that were taken are released before.
        let giving_back = if waiting.locks.len() > 1 {
            self.most_for_a_try
        } else {
            0
        };
        let ran = engine.runs_since(waiting.of) <= asked;
        if ran && took > most + most / 100 + giving_back + SLACK {
            let story = format!("{} took {} ms", waiting.name(), took / MS);
            self.object("timeouts", now, story);
        }
        if told == Told::Failed(ErrorKind::Timeout(TimeoutStep::Wait)) && took < most - most / 100 {
            let story = format!("{} is told after {} ms", waiting.name(), took / MS);
            self.object("timeouts", now, story);
        }
    }

    /// A release has failed.
    pub(crate) fn look_at_release(&self, engine: &Engine, belief: &Belief, error: &Error) {
        let over = Self::is_at_its_limit(belief, engine.now());
        if !over && self.must_have_been_kept(engine, belief) {
            let story = format!("a release, and nothing is wrong: {error}");
            self.object("errors", engine.now(), story);
        }
    }

    /// A lock is lost, and who waits to be told of it is not.
    pub(crate) fn is_not_told(&self, engine: &Engine) {
        let of = engine.current();
        self.object(
            "losses",
            engine.now(),
            format!("p{} is not told of a loss", of.0),
        );
    }

    /// What was to be stopped when its lock is lost goes on.
    pub(crate) fn goes_on(&self, engine: &Engine, of: ProcId) {
        let story = format!("p{} goes on with what its lost lock guards", of.0);
        self.object("losses", engine.now(), story);
    }

    /// An owner that holds a lock asks for it again, in a mode that no other client can prevent.
    pub(crate) fn look_at_reentry(
        &self,
        engine: &Engine,
        asked: Nanos,
        patience: Nanos,
        told: Told,
    ) {
        let now = engine.now();
        if told != Told::Granted && patience > SECOND / 2 && self.must_be_kept(now) {
            let story = format!(
                "an owner asked for its lock again at {:.6} s: {told:?}",
                super::belief::seconds(asked)
            );
            self.object("owners", now, story);
        }
    }
}

/// Whether one may be told this while nothing is wrong.
fn is_expected(kind: ErrorKind, patience: Patience) -> bool {
    match kind {
        ErrorKind::Timeout(_) => matches!(patience, Patience::For(_)),
        // Too little time even to connect.
        ErrorKind::Unavailable => matches!(patience, Patience::For(..SECOND)),
        ErrorKind::WouldDeadlock | ErrorKind::Closed => true,
        _ => false,
    }
}

/// Whether one may be told this because servers do not answer.
fn is_of_failures(kind: ErrorKind) -> bool {
    matches!(
        kind,
        // One of several may be lost while the others are waited for.
        ErrorKind::Lost(_)
            | ErrorKind::Timeout(_)
            | ErrorKind::Unavailable
            | ErrorKind::WouldDeadlock
            | ErrorKind::Closed
    )
}
