//! What holders believe: from the grant to the last moment at which `check()` says yes. Beliefs that conflict must not
//! overlap.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use super::Judges;
use super::excuses::Claim;
use super::guard::Guard;
use super::home::process_of;
use super::named::Named;
use super::record::Record;
use super::tokens::Largest;
use crate::engine::{Engine, Nanos, ProcId};
use crate::history::Kind;

/// A task believes to hold a lock.
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
    /// How long no other client may have it from then on.
    pub(crate) min_hold: Option<Nanos>,
    /// For how long it may be held, and how long it lasts without a renewal.
    pub(crate) max_hold: Option<Nanos>,
    pub(crate) lease: Nanos,
    /// By what the server knows the hold, so that it is the same for those who are passed it on.
    pub(crate) named: u64,
    pub(crate) guard: Weak<Guard>,
}

/// All of them, by number; and the largest token that each owner believed in, of each lock.
#[derive(Debug, Default)]
pub(super) struct Beliefs {
    held: BTreeMap<u64, Held>,
    next: u64,
    pub(super) tokens: BTreeMap<(usize, Option<usize>), Largest>,
    /// When the last tokens of which lock may have been forgotten.
    pub(super) forgotten: BTreeMap<usize, Nanos>,
    /// When what a server named for a process was asked for, and granted: who is passed it later need not ask.
    pub(super) first: BTreeMap<(usize, ProcId, Named), (Nanos, Nanos)>,
    /// The name of the last hold that a process had of a lock, and when a task left it.
    pub(super) left: BTreeMap<(usize, ProcId), (Named, Nanos)>,
}

#[derive(Debug)]
struct Held {
    belief: Belief,
    /// A later grant that conflicts with it.
    overlap: Option<Overlap>,
    /// Since when no server has it.
    missing: Option<Nanos>,
}

/// Two beliefs that conflict.
#[derive(Debug)]
struct Overlap {
    story: String,
    excuse: Option<&'static str>,
}

/// Whether a holder is asked at once what it believes when another client is granted the lock. A question makes a holder
/// notice that its time is over; the others are asked when they leave, and must not believe any more by then.
fn is_asked_at_once(number: u64) -> bool {
    number.is_multiple_of(2)
}

impl Belief {
    pub(super) fn named(&self) -> Named {
        (self.named, self.write)
    }

    pub(super) fn conflicts(&self, other: &Self) -> bool {
        let same_owner = self.owner.is_some() && self.owner == other.owner;
        self.lock == other.lock && (self.write || other.write) && !same_owner
    }

    pub(super) fn claim(&self) -> Claim {
        Claim {
            lock: self.lock,
            of: self.of,
            asked: self.asked,
        }
    }

    pub(super) fn name(&self) -> String {
        let Self { of, task, lock, .. } = self;
        let mode = if self.write { "write" } else { "read" };
        format!("p{} t{task} ({mode} lock {lock})", of.0)
    }
}

impl Beliefs {
    /// All of them, and since when no server has each.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = (&Belief, &mut Option<Nanos>)> {
        let held = self.held.values_mut();
        held.map(|held| (&held.belief, &mut held.missing))
    }
}

impl Judges {
    /// A task was granted a lock; the number is for [`Self::ended`].
    pub(crate) fn granted(&self, engine: &Engine, mut belief: Belief, guard: &Rc<Guard>) -> u64 {
        let now = engine.now();
        self.was_had(now, belief.lock, belief.write, belief.of);
        let lost = guard.is_lost();
        belief.named = self
            .named_for_lingering(engine, &belief, guard)
            .or_else(|| self.named(engine, &belief, guard))
            .or_else(|| self.beliefs.borrow().passed_on(&belief, now))
            .unwrap_or(now << 8 | belief.task & 0xff);
        if guard.is_expired() && self.could_be_known(engine, &belief) {
            let story = format!("{} got a lease that was over", belief.name());
            self.object("grants", now, story);
        }
        self.look_at_rests(engine, &belief);
        self.look_at_end(engine, &belief);
        let mut beliefs = self.beliefs.borrow_mut();
        belief.asked = beliefs.asked_first(&belief);
        if !lost {
            self.look_at_others(engine, &mut beliefs, &belief, guard.token().unwrap_or(0));
            self.look_at_token(engine, &mut beliefs, &belief, guard);
            self.look_at_slice(engine, &beliefs, &belief, guard);
            self.look_for_its_hold(engine, &belief, guard);
        }
        beliefs.next += 1;
        let number = beliefs.next;
        let held = Held {
            belief,
            overlap: None,
            missing: None,
        };
        let (lock, of) = (held.belief.lock, held.belief.of);
        beliefs.held.insert(number, held);
        self.uses_or_leaves(now, lock, of, 1);
        self.load.borrow_mut().granted();
        number
    }

    /// Whether it must have been known at the grant that its lease was over: the process has run since, or what it passes on it
    /// has left since.
    fn could_be_known(&self, engine: &Engine, belief: &Belief) -> bool {
        let since = engine.runs_since(belief.of);
        let beliefs = self.beliefs.borrow();
        let left = beliefs.left(belief);
        since < engine.now() || left.is_some_and(|at| at >= since)
    }

    fn look_at_others(&self, engine: &Engine, beliefs: &mut Beliefs, belief: &Belief, token: u64) {
        for (number, held) in &mut beliefs.held {
            let other = &held.belief;
            let Some(theirs) = other.guard.upgrade().filter(|_| other.conflicts(belief)) else {
                continue;
            };
            if !engine.is_alive(other.of) {
                continue;
            }
            let at_once = is_asked_at_once(*number);
            if at_once && engine.acting(other.of, || theirs.is_lost()) {
                continue;
            }
            // What was granted before a loss may arrive long after it.
            let claims = [other.claim(), belief.claim()];
            let overlap = Overlap {
                excuse: self.excuses.borrow_mut().excuse(engine, claims),
                story: format!(
                    "{} got token {token} at {:.6} s, while {} believes in token {} of {:.6} s",
                    belief.name(),
                    seconds(engine.now()),
                    other.name(),
                    theirs.token().unwrap_or(0),
                    seconds(other.since),
                ),
            };
            if at_once {
                self.overlapped(engine, overlap);
            } else {
                held.overlap.get_or_insert(overlap);
            }
        }
    }

    /// A grant is on record, unless it is over or lost.
    fn look_for_its_hold(&self, engine: &Engine, belief: &Belief, guard: &Guard) {
        let has = |record: &Record<'_>| {
            let mut holds = record.holds.iter();
            holds.any(|(id, hold)| {
                process_of(id) == Some(belief.of)
                    && (hold.write || !belief.write)
                    && (hold.until > record.now || !self.is_quorum())
            })
        };
        let home = &self.homes[belief.lock];
        let recorded = if self.is_quorum() {
            home.count_those(engine, has) >= self.majority()
        } else {
            home.any(engine, has)
        };
        if recorded || guard.is_expired() || guard.is_one_of_several() {
            return;
        }
        if !self.excuses.borrow().is_lost(engine, belief.claim()) {
            let story = format!("{} got what is not on record", belief.name());
            self.object("grants", engine.now(), story);
        }
    }

    fn overlapped(&self, engine: &Engine, overlap: Overlap) {
        let Overlap { story, excuse } = overlap;
        match excuse {
            Some(why) => {
                self.excuses.borrow_mut().used += 1;
                engine.tell(Kind::Judge, || format!("{story}: {why}"));
            }
            None => self.object("exclusion", engine.now(), story),
        }
    }

    /// Whether a lock cannot have been lost; who holds it for long may learn late of what happened long ago.
    pub(super) fn must_have_been_kept(&self, engine: &Engine, belief: &Belief) -> bool {
        self.must_be_kept(engine.now()) && !self.excuses.borrow().is_lost(engine, belief.claim())
    }

    /// A belief has ended; whether the holder is known to have lost the lock.
    pub(crate) fn ended(&self, engine: &Engine, number: u64) -> bool {
        let Some(Held {
            belief, overlap, ..
        }) = self.beliefs.borrow_mut().held.remove(&number)
        else {
            return false;
        };
        self.was_had(engine.now(), belief.lock, belief.write, belief.of);
        let users = self.holders_of(belief.lock, belief.of);
        self.uses_or_leaves(engine.now(), belief.lock, belief.of, users);
        let Some(guard) = belief.guard.upgrade() else {
            return false;
        };
        if !engine.is_alive(belief.of) {
            return false;
        }
        let (left, hold) = ((belief.named(), engine.now()), (belief.lock, belief.of));
        self.beliefs.borrow_mut().left.insert(hold, left);
        let over = Self::is_at_its_limit(&belief, engine.now());
        let over = over || matches!(*guard, Guard::Foreign(_));
        if guard.is_lost() && !over && self.must_have_been_kept(engine, &belief) {
            let story = format!("{} has lost its lease, and nothing is wrong", belief.name());
            self.object("losses", engine.now(), story);
        }
        self.rests(&belief, &guard);
        if overlap.is_none() && !is_asked_at_once(number) {
            return false;
        }
        let lost = guard.is_lost();
        if let Some(overlap) = overlap.filter(|_| !lost) {
            self.overlapped(engine, overlap);
        }
        lost
    }

    /// Whether a process has a guard that its own shutdown has ended.
    pub(super) fn is_left_without(&self, of: ProcId) -> bool {
        let beliefs = self.beliefs.borrow();
        let mut guards = beliefs.held.values().filter_map(|held| {
            let belief = &held.belief;
            (belief.of == of).then(|| belief.guard.upgrade()).flatten()
        });
        guards.any(|guard| guard.is_shut_down())
    }

    /// Whether a task believes to hold a lock; to write, if `any` is not asked for.
    pub(super) fn is_believed(&self, lock: usize, any: bool) -> bool {
        let beliefs = self.beliefs.borrow();
        let mut held = beliefs.held.values().map(|held| &held.belief);
        held.any(|belief| belief.lock == lock && (any || belief.write))
    }

    /// How many of a process do.
    pub(super) fn holders_of(&self, lock: usize, of: ProcId) -> usize {
        let beliefs = self.beliefs.borrow();
        let held = beliefs.held.values().map(|held| &held.belief);
        held.filter(|belief| belief.lock == lock && belief.of == of)
            .count()
    }

    /// The tasks that believe to hold a lock.
    pub(super) fn holders(&self) -> Vec<(usize, ProcId)> {
        let beliefs = self.beliefs.borrow();
        let all = beliefs.held.values();
        all.map(|held| (held.belief.lock, held.belief.of)).collect()
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "for readers; a simulation lasts minutes"
)]
pub(super) fn seconds(at: Nanos) -> f64 {
    at as f64 / 1e9
}
