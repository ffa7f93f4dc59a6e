//! What holders believe: from the grant to the last moment at which `check()` says yes. Beliefs that conflict must not
//! overlap, and a writer's token is larger than those that were believed before.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use dlock::{ErrorKind, Held, LossReason, ReadGuard, WriteGuard};

use super::Judges;
use super::excuses::Claim;
use crate::engine::{Engine, Nanos, ProcId};
use crate::history::Kind;

/// Whatever a task holds a lock by.
#[derive(Debug)]
pub(crate) enum Guard {
    Read(ReadGuard),
    Write(WriteGuard),
    Several(Held),
}

impl Guard {
    pub(crate) fn token(&self) -> u64 {
        match self {
            Self::Read(guard) => guard.fencing_token(),
            Self::Write(guard) => guard.fencing_token(),
            Self::Several(held) => held.fencing_token(),
        }
        .as_u64()
    }

    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Read(guard) => guard.is_lost(),
            Self::Write(guard) => guard.is_lost(),
            Self::Several(held) => held.is_lost(),
        }
    }

    /// Whether its lease has run out. One of several may, while the others are waited for.
    fn is_expired(&self) -> bool {
        let checked = match self {
            Self::Read(guard) => guard.check(),
            Self::Write(guard) => guard.check(),
            Self::Several(_) => Ok(()),
        };
        let expired = ErrorKind::Lost(LossReason::Expired);
        checked.is_err_and(|error| error.kind() == expired)
    }

    pub(crate) async fn lost(&self) {
        match self {
            Self::Read(guard) => guard.lost().await,
            Self::Write(guard) => guard.lost().await,
            Self::Several(held) => held.lost().await,
        }
    }
}

/// Somebody believes to hold a lock.
#[derive(Debug, Clone)]
pub(crate) struct Belief {
    pub(crate) of: ProcId,
    pub(crate) task: u64,
    pub(crate) lock: usize,
    pub(crate) write: bool,
    pub(crate) owner: Option<usize>,
    /// When it began to ask, and when it was granted.
    pub(crate) asked: Nanos,
    pub(crate) since: Nanos,
    pub(crate) guard: Weak<Guard>,
}

/// All of them, by number; and the largest token that each owner believed in, of each lock.
#[derive(Debug, Default)]
pub(super) struct Beliefs {
    held: BTreeMap<u64, Belief>,
    next: u64,
    tokens: BTreeMap<(usize, Option<usize>), (u64, Nanos, ProcId)>,
}

impl Beliefs {
    /// The largest token that others than this owner have believed in, and when.
    fn largest(&self, belief: &Belief) -> (u64, Nanos, ProcId) {
        let of_lock = (belief.lock, None)..=(belief.lock, Some(usize::MAX));
        let others = self.tokens.range(of_lock);
        let others = others.filter(|((_, owner), _)| owner.is_none() || *owner != belief.owner);
        others.map(|(_, token)| *token).max().unwrap_or_default()
    }
}

impl Belief {
    fn conflicts(&self, other: &Self) -> bool {
        let same_owner = self.owner.is_some() && self.owner == other.owner;
        self.lock == other.lock && (self.write || other.write) && !same_owner
    }

    fn claim(&self) -> Claim {
        Claim {
            lock: self.lock,
            of: self.of,
            asked: self.asked,
        }
    }

    fn name(&self) -> String {
        let Self { of, task, lock, .. } = self;
        let mode = if self.write { "write" } else { "read" };
        format!("p{} t{task} ({mode} lock {lock})", of.0)
    }
}

impl Judges {
    /// Somebody was granted a lock; the number is for [`Self::ended`].
    pub(crate) fn granted(&self, engine: &Engine, belief: Belief, guard: &Rc<Guard>) -> u64 {
        let now = engine.now();
        let lost = guard.is_lost();
        let token = guard.token();
        if guard.is_expired() && engine.runs_since(belief.of) < now {
            let story = format!("{} got a lease that was over", belief.name());
            self.object("grants", now, story);
        }
        let mut beliefs = self.beliefs.borrow_mut();
        if !lost {
            let others: Vec<Belief> = beliefs
                .held
                .values()
                .filter(|other| other.conflicts(&belief))
                .cloned()
                .collect();
            for other in others {
                let Some(theirs) = other.guard.upgrade() else {
                    continue;
                };
                if engine.is_alive(other.of) && !engine.acting(other.of, || theirs.is_lost()) {
                    // What was granted before a loss may arrive long after it.
                    let claims = [other.claim(), belief.claim()];
                    let excuse = self.excuses.borrow_mut().excuse(engine, claims);
                    let story = format!(
                        "{} got token {token} while {} still believes in token {} of {:.6} s",
                        belief.name(),
                        other.name(),
                        theirs.token(),
                        seconds(other.since),
                    );
                    match excuse {
                        Some(why) => engine.tell(Kind::Judge, || format!("{story}: {why}")),
                        None => self.object("exclusion", now, story),
                    }
                }
            }
            let (largest, at, of) = beliefs.largest(&belief);
            // One of several was granted long before the last of them.
            let before = if matches!(**guard, Guard::Several(_)) {
                belief.asked
            } else {
                now
            };
            if belief.write && token <= largest && at <= before {
                let claim = Claim {
                    lock: belief.lock,
                    of,
                    asked: at,
                };
                let excuses = self.excuses.borrow();
                let late = excuses.is_lost(engine, belief.claim());
                if !late && excuses.token_excuse(engine, claim).is_none() {
                    let story = format!(
                        "{} got token {token}, but {largest} was granted at {:.6} s",
                        belief.name(),
                        seconds(at)
                    );
                    self.object("tokens", now, story);
                }
            }
            let own = beliefs
                .tokens
                .entry((belief.lock, belief.owner))
                .or_default();
            if token > own.0 {
                *own = (token, now, belief.of);
            }
        }
        beliefs.next += 1;
        let number = beliefs.next;
        beliefs.held.insert(number, belief);
        number
    }

    /// A belief has ended.
    pub(crate) fn ended(&self, number: u64) {
        self.beliefs.borrow_mut().held.remove(&number);
    }

    /// Who believes to hold which lock.
    pub(super) fn holders(&self) -> Vec<(usize, ProcId)> {
        let beliefs = self.beliefs.borrow();
        let all = beliefs.held.values();
        all.map(|belief| (belief.lock, belief.of)).collect()
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "for readers; a simulation lasts minutes"
)]
pub(super) fn seconds(at: Nanos) -> f64 {
    at as f64 / 1e9
}
