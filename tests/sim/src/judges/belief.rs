//! What holders believe: from the grant to the last moment at which `check()` says yes. Beliefs that conflict must not
//! overlap, and a writer's token is larger than those that were believed before.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use super::Judges;
use super::excuses::Claim;
use super::guard::Guard;
use super::record::process_of;
use crate::engine::{Engine, Nanos, ProcId};
use crate::history::Kind;

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
    held: BTreeMap<u64, Held>,
    next: u64,
    tokens: BTreeMap<(usize, Option<usize>), (u64, Nanos, ProcId)>,
    /// When what a server named for a process was asked for: who is passed it later need not ask.
    asked: BTreeMap<(usize, ProcId, u64), Nanos>,
}

#[derive(Debug)]
struct Held {
    belief: Belief,
    /// A later grant that conflicts with it.
    overlap: Option<Overlap>,
}

/// Two beliefs that conflict.
#[derive(Debug)]
struct Overlap {
    story: String,
    excuse: Option<&'static str>,
}

/// Whether a holder is asked at once what it believes when somebody else is granted the lock. A question makes a holder
/// notice that its time is over; the others are asked when they leave, and must not believe any more by then.
fn is_asked_at_once(number: u64) -> bool {
    number.is_multiple_of(2)
}

impl Beliefs {
    /// When the hold was asked for that this belief is about, as far as one sees by what the server named.
    fn asked_first(&mut self, belief: &Belief, named: u64) -> Nanos {
        let hold = (belief.lock, belief.of, named);
        *self.asked.entry(hold).or_insert(belief.asked)
    }

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
    pub(crate) fn granted(&self, engine: &Engine, mut belief: Belief, guard: &Rc<Guard>) -> u64 {
        let now = engine.now();
        self.was_had(now, belief.lock, belief.write, belief.of);
        let lost = guard.is_lost();
        if guard.is_expired() && engine.runs_since(belief.of) < now {
            let story = format!("{} got a lease that was over", belief.name());
            self.object("grants", now, story);
        }
        let mut beliefs = self.beliefs.borrow_mut();
        belief.asked = beliefs.asked_first(&belief, guard.named());
        if !lost {
            self.look_at_others(engine, &mut beliefs, &belief, guard.token());
            self.look_at_token(engine, &mut beliefs, &belief, guard);
            self.look_for_its_hold(engine, &belief, guard);
        }
        beliefs.next += 1;
        let number = beliefs.next;
        let overlap = None;
        beliefs.held.insert(number, Held { belief, overlap });
        number
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
                    theirs.token(),
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

    /// What is granted is on record, unless it is over or lost.
    fn look_for_its_hold(&self, engine: &Engine, belief: &Belief, guard: &Guard) {
        let recorded = self.homes[belief.lock].any(engine, |record| {
            let mut holds = record.holds.iter();
            holds.any(|(id, hold)| {
                process_of(id) == Some(belief.of) && (hold.write || !belief.write)
            })
        });
        if recorded || guard.is_expired() || matches!(guard, Guard::Several(_)) {
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

    fn look_at_token(
        &self,
        engine: &Engine,
        beliefs: &mut Beliefs,
        belief: &Belief,
        guard: &Guard,
    ) {
        let (now, token) = (engine.now(), guard.token());
        let (largest, at, of) = beliefs.largest(belief);
        // One of several was granted long before the last of them.
        let before = if matches!(guard, Guard::Several(_)) {
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
        let own = beliefs.tokens.entry((belief.lock, belief.owner));
        let own = own.or_default();
        if token > own.0 {
            *own = (token, now, belief.of);
        }
    }

    /// Whether a lock cannot have been lost; who holds it for long may learn late of what happened long ago.
    pub(super) fn must_have_been_kept(&self, engine: &Engine, belief: &Belief) -> bool {
        self.must_be_kept(engine.now()) && !self.excuses.borrow().is_lost(engine, belief.claim())
    }

    /// A belief has ended; whether the holder is known to have lost the lock.
    pub(crate) fn ended(&self, engine: &Engine, number: u64) -> bool {
        let Some(Held { belief, overlap }) = self.beliefs.borrow_mut().held.remove(&number) else {
            return false;
        };
        self.was_had(engine.now(), belief.lock, belief.write, belief.of);
        let Some(guard) = belief.guard.upgrade() else {
            return false;
        };
        if !engine.is_alive(belief.of) {
            return false;
        }
        if guard.is_lost() && self.must_have_been_kept(engine, &belief) {
            let story = format!("{} has lost its lease, and nothing is wrong", belief.name());
            self.object("losses", engine.now(), story);
        }
        if overlap.is_none() && !is_asked_at_once(number) {
            return false;
        }
        let lost = guard.is_lost();
        if let Some(overlap) = overlap.filter(|_| !lost) {
            self.overlapped(engine, overlap);
        }
        lost
    }

    /// Whether somebody believes to hold a lock; to write, if `any` is not asked for.
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

    /// Who believes to hold which lock.
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
