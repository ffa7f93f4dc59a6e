//! Holds that processes keep for their next tasks: for how long they may, and how soon they hear that others want the lock.

use std::collections::BTreeMap;

use super::Judges;
use super::belief::{Belief, seconds};
use super::guard::Guard;
use super::home::process_of;
use super::patience::Waits;
use super::record::{Holding, Record};
use crate::engine::{Engine, MS, Nanos, ProcId, SECOND};
use crate::plan::Plan;

/// How long after a fault messages arrive again.
const CALM: Nanos = 8 * SECOND;
/// The longest lease of such a hold.
const LEASE: Nanos = 2 * SECOND;
/// How long a slice lasts, after which a process leaves the lock to others, and what clocks may differ by.
pub(super) const SLICE: Nanos = 5 * MS + MS / 20;

/// All such holds.
#[derive(Debug)]
pub(super) struct Lingering {
    /// For how long which process keeps a lock after its last task.
    processes: BTreeMap<ProcId, Nanos>,
    /// By lock and id.
    holds: BTreeMap<(usize, String), Kept>,
    /// How long it takes until a message has arrived and the hold is back, and until a renewal has told it.
    hop: Nanos,
    renewal: Nanos,
}

/// A hold that its process may keep.
#[derive(Debug, Clone, Copy)]
struct Kept {
    of: ProcId,
    /// When others began to wait that it keeps out, and when the last task left it.
    wanted: Option<Nanos>,
    idle: Option<Nanos>,
}

/// Whether a hold may linger, by its id.
fn may_linger(id: &str) -> bool {
    id.ends_with('~')
}

/// Whether such a hold keeps a waiter out.
fn is_wanted(hold: &Holding, record: &Record<'_>) -> bool {
    let mut places = record.places();
    places.any(|(place, write)| (write || hold.write) && place.until > record.now)
}

impl Lingering {
    pub(super) fn new(plan: &Plan, hand_over: Nanos) -> Self {
        let hop = hand_over + 2 * plan.setup.bus;
        let leases = plan.processes.iter().map(|process| process.lease);
        let lease = leases.max().unwrap_or(0).min(LEASE);
        Self {
            processes: BTreeMap::new(),
            holds: BTreeMap::new(),
            hop,
            renewal: lease / 3 + lease / 100 + hop,
        }
    }

    /// For how long a process keeps a lock after its last task.
    pub(super) fn linger(&self, of: ProcId) -> Nanos {
        self.processes.get(&of).copied().unwrap_or(0)
    }

    /// A task has such a hold, or the last one has left it.
    fn use_of(&mut self, lock: usize, of: ProcId, idle: Option<Nanos>) {
        let from = (lock, String::new());
        let holds = self.holds.range_mut(from..(lock + 1, String::new()));
        for (_, kept) in holds.filter(|(_, kept)| kept.of == of) {
            kept.idle = idle;
        }
    }
}

impl Judges {
    /// A process starts that keeps locks for its next tasks.
    pub(crate) fn lets_linger(&self, of: ProcId, linger: Nanos) {
        let mut lingering = self.lingering.borrow_mut();
        lingering.processes.insert(of, linger);
    }

    /// A task has a lock, or leaves it: which tasks of its process have it now.
    pub(super) fn uses_or_leaves(&self, now: Nanos, lock: usize, of: ProcId, users: usize) {
        let mut lingering = self.lingering.borrow_mut();
        if !lingering.processes.is_empty() {
            lingering.use_of(lock, of, (users == 0).then_some(now));
        }
    }

    /// What a lock's record says.
    pub(super) fn see_lingering(&self, now: Nanos, lock: usize, record: &Record<'_>) {
        let mut lingering = self.lingering.borrow_mut();
        if lingering.processes.is_empty() {
            return;
        }
        let lives = |id: &str| record.hold(id).is_some_and(|hold| hold.until > record.now);
        (lingering.holds).retain(|(of, id), _| *of != lock || lives(id));
        for (id, hold) in record.holds.iter().filter(|(id, _)| may_linger(id)) {
            let Some(of) = process_of(id).filter(|_| lives(id)) else {
                continue;
            };
            let idle = (self.holders_of(lock, of) == 0).then_some(now);
            let kept = lingering.holds.entry((lock, (*id).to_owned()));
            let kept = kept.or_insert(Kept {
                of,
                wanted: None,
                idle,
            });
            kept.wanted = is_wanted(hold, record).then(|| kept.wanted.unwrap_or(now));
        }
    }

    /// Whether the holder's process keeps locks for its next tasks.
    pub(super) fn lets_it_linger(&self, belief: &Belief) -> bool {
        self.lingering.borrow().linger(belief.of) > 0
    }

    /// Within what time a process hears that others want a lock. Nothing where neither messages nor answers are sure to arrive.
    fn hears_within(&self, now: Nanos) -> Option<Nanos> {
        let lingering = self.lingering.borrow();
        if self.is_calm(now, CALM) {
            return Some(lingering.hop);
        }
        self.is_unharmed(now, CALM).then_some(lingering.renewal)
    }

    /// Looks at holds that no task uses and others want.
    pub(super) fn look_at_lingering(&self, engine: &Engine, waits: &Waits) {
        let now = engine.now();
        let Some(within) = self.hears_within(now) else {
            return;
        };
        let kept_too_long = |kept: &&Kept| {
            let since = kept.wanted.max(kept.idle);
            let both = kept.wanted.is_some() && kept.idle.is_some();
            both && since.is_some_and(|since| now > since + within) && engine.runs(kept.of)
        };
        let lingering = self.lingering.borrow();
        for ((lock, id), kept) in &lingering.holds {
            // A waiter's grant may be on its way.
            let unheard = !self.is_calm(now, CALM) && waits.waiters_of(*lock, kept.of) > 0;
            if kept_too_long(&kept) && !unheard && self.homes[*lock].is_served(engine) {
                let wanted = seconds(kept.wanted.unwrap_or(now));
                let story = format!(
                    "{id} keeps lock {lock} for no task, although others wait since {wanted:.6} s"
                );
                self.object("patience", now, story);
            }
        }
    }

    /// Since when the process of a hold that may linger must have known that others want the lock; never, if they do not.
    /// Nothing if no such hold is known.
    pub(super) fn knows_since(&self, now: Nanos, belief: &Belief) -> Option<Nanos> {
        let lingering = self.lingering.borrow();
        let from = (belief.lock, String::new());
        let holds = lingering
            .holds
            .range(from..(belief.lock + 1, String::new()));
        let mut own = holds.filter(|(_, kept)| kept.of == belief.of);
        let (_, kept) = own.next()?;
        let alone = own.next().is_none();
        let wanted = kept.wanted.filter(|_| alone);
        let within = self.hears_within(now);
        Some(
            wanted
                .zip(within)
                .map_or(Nanos::MAX / 2, |(since, within)| since + within),
        )
    }

    /// What the server named last for a hold that may linger: its tokens go beyond that.
    pub(super) fn named_for_lingering(
        &self,
        engine: &Engine,
        belief: &Belief,
        guard: &Guard,
    ) -> Option<u64> {
        let lingering = self.lingering.borrow();
        if lingering.linger(belief.of) == 0 {
            return None;
        }
        let named = guard.named()?;
        self.homes[belief.lock].look(engine, |found| {
            let (_, record) = found?;
            let own = record.holds.iter().filter(|(id, hold)| {
                let own = process_of(id) == Some(belief.of) && hold.until > record.now;
                own && hold.write == belief.write
            });
            let tokens = own.filter(|(id, hold)| may_linger(id) || hold.token == named);
            let tokens = tokens.map(|(_, hold)| hold.token);
            tokens.filter(|token| *token <= named).max()
        })
    }
}
