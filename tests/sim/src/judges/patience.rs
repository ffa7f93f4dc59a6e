//! No task waits for longer than a heartbeat and a hand-over on a lock that is free, or free for readers.

use std::collections::BTreeMap;

use super::Judges;
use crate::engine::{Engine, MS, Nanos, ProcId, SECOND};
use crate::plan::{Fault, Patience, Plan};

/// How often waiters look by themselves: at first, and then after half of what they have waited, or after so many round trips;
/// a third later at most. Less often if requests take longer than the quickest, twice as long for each of these; but once a
/// second, or in four if requests take so much longer.
const HEARTBEAT: Nanos = 300 * MS;
const ROUND_TRIPS: Nanos = 100;
const DOUBLED: Nanos = 2 * MS;
const LONGEST: Nanos = SECOND;
const SLOW: Nanos = 25 * MS;
const SLOWEST: Nanos = 4 * SECOND;
/// By how much longer requests took in a fault that is over, as far as clients remember it after [`CALM`].
const REMEMBERED: Nanos = 14 * MS;
/// How long after a fault clients have forgotten it: requests from that time may have been late.
const FORGOTTEN: Nanos = 15 * SECOND + 2 * SECOND;
/// For how long a mutex is left free for those who poll, and how late one looks then.
const MOMENT: Nanos = 160 * MS;
/// For how long a place lasts that is not refreshed.
const PLACE: Nanos = 3 * SECOND;
/// How long after a fault waits are judged again: connections are back, and places of the dead are over.
const CALM: Nanos = 8 * SECOND;

/// A task that waits.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) of: ProcId,
    pub(crate) task: u64,
    pub(crate) locks: Vec<usize>,
    pub(crate) write: bool,
    pub(crate) patience: Patience,
}

impl Waiting {
    pub(super) fn name(&self) -> String {
        let Self { of, task, .. } = self;
        let mode = if self.write { "write" } else { "read" };
        format!("p{} t{task} ({mode} {:?})", of.0, self.locks)
    }
}

/// Since when a lock is free although a task waits, and since when it is for readers.
#[derive(Debug, Clone, Copy, Default)]
struct Free {
    all: Option<Nanos>,
    readers: Option<Nanos>,
}

/// All tasks that wait, and since when locks are free in spite of that.
#[derive(Debug)]
pub(super) struct Waits {
    waiting: BTreeMap<u64, (Nanos, Waiting)>,
    next: u64,
    free: Vec<Free>,
    /// By how much longer requests may take than the quickest.
    longer: Nanos,
    /// How long requests take.
    trip: Nanos,
    /// The time that a hand-over adds to a heartbeat, and that a mutex adds.
    pub(super) hand_over: Nanos,
    more: Nanos,
}

/// For how long the place of one may stay who got a mutex and gave it back while its slot moved: no script sees the queue then.
pub(super) fn place_left(plan: &Plan) -> Nanos {
    let mut faults = plan.faults.iter();
    let moves = faults.any(|one| matches!(one.fault, Fault::Migrate { .. }));
    if moves { PLACE } else { 0 }
}

/// Requests differ by what the network does, and by how busy servers are.
fn longer(plan: &Plan) -> Nanos {
    let pace = plan.setup.pace;
    let spike = if pace.lost > 0 { pace.spike } else { 0 };
    2 * pace.jitter + spike + busy(plan)
}

/// How long servers may be busy with what all tasks ask for once, and with the answers.
fn busy(plan: &Plan) -> Nanos {
    let tasks = plan.processes.iter().map(|process| process.tasks.len());
    3 * plan.setup.service.script * tasks.sum::<usize>() as Nanos
}

impl Waits {
    pub(super) fn new(plan: &Plan, locks: usize) -> Self {
        let pace = plan.setup.pace;
        let lost = if pace.lost > 0 { 4 * pace.spike } else { 0 };
        let trip = 2 * (pace.base + pace.jitter);
        Self {
            waiting: BTreeMap::new(),
            next: 0,
            free: vec![Free::default(); locks],
            more: MOMENT + place_left(plan),
            longer: longer(plan),
            trip,
            hand_over: HEARTBEAT / 50 + 20 * MS + 10 * trip + lost + busy(plan),
        }
    }

    /// How many of a process wait for a lock.
    pub(super) fn waiters_of(&self, lock: usize, of: ProcId) -> usize {
        let waiting = self.waiting.values();
        let waiting = waiting.filter(|(_, one)| one.of == of && one.locks.contains(&lock));
        waiting.count()
    }

    /// Since when a task waits for one of the locks: the first in the queue lets no other in before it looks.
    fn first(&self, waiting: &Waiting) -> Nanos {
        let all = self.waiting.values();
        let same = all.filter(|(_, one)| one.locks.iter().any(|lock| waiting.locks.contains(lock)));
        same.map(|(begun, _)| *begun).min().unwrap_or_default()
    }

    /// How long a lock may be free for a waiter that has waited for so long by then.
    fn limit(&self, waited: Nanos, remembered: Nanos) -> Nanos {
        let trips = ROUND_TRIPS * (self.trip + self.longer);
        let usual = HEARTBEAT.max(waited / 2).max(trips.min(LONGEST)) * 4 / 3;
        let longest = LONGEST + LONGEST * self.longer.max(remembered) / SLOW;
        (usual + usual * self.longer / DOUBLED).min(longest.min(SLOWEST)) + self.hand_over
    }
}

impl Judges {
    /// A task begins to wait; the number is for [`Self::stops_waiting`].
    pub(crate) fn waits(&self, now: Nanos, waiting: Waiting) -> u64 {
        let mut waits = self.waits.borrow_mut();
        waits.next += 1;
        let number = waits.next;
        waits.waiting.insert(number, (now, waiting));
        number
    }

    pub(crate) fn stops_waiting(&self, now: Nanos, number: u64) {
        let mut waits = self.waits.borrow_mut();
        let Some((_, waiting)) = waits.waiting.remove(&number) else {
            return;
        };
        let mut traffic = self.traffic.borrow_mut();
        for lock in waiting.locks {
            traffic.note_of(now, lock, waiting.write, waiting.of);
            if waiting.write {
                waits.free[lock].readers = None;
            }
        }
    }

    /// A lock was had: a task that waited on a free one waits anew.
    pub(super) fn was_had(&self, now: Nanos, lock: usize, write: bool, of: ProcId) {
        self.traffic.borrow_mut().note_of(now, lock, write, of);
        self.ends_gap(lock);
        let free = &mut self.waits.borrow_mut().free[lock];
        free.all = None;
        if write {
            free.readers = None;
        }
    }

    /// Since when a task waits, and for which locks.
    pub(super) fn who_waits_as(&self, number: u64) -> Option<(Nanos, Waiting)> {
        self.waits.borrow().waiting.get(&number).cloned()
    }

    /// Whether another waits for a lock; to write, if the one with this number does not.
    pub(super) fn is_wanted_by_others(&self, number: u64, lock: usize, write: bool) -> bool {
        let waits = self.waits.borrow();
        waits.waiting.iter().any(|(other, (_, waiting))| {
            *other != number && waiting.locks.contains(&lock) && (write || waiting.write)
        })
    }

    /// Whether a process has a lock or waits for it.
    pub(super) fn uses(&self, lock: usize, of: ProcId) -> bool {
        self.users(lock, of) > 0
    }

    /// How many of a process have a lock or wait for it.
    pub(super) fn users(&self, lock: usize, of: ProcId) -> usize {
        self.waits.borrow().waiters_of(lock, of) + self.holders_of(lock, of)
    }

    /// Whether a task of a running process waits for this lock alone.
    pub(super) fn is_wanted(&self, engine: &Engine, lock: usize) -> bool {
        let waits = self.waits.borrow();
        let mut waiting = waits.waiting.values();
        waiting.any(|(_, one)| one.locks == [lock] && engine.runs(one.of))
    }

    /// The tasks that wait now.
    pub(crate) fn who_waits(&self) -> Vec<Waiting> {
        let waits = self.waits.borrow();
        waits.waiting.values().map(|one| one.1.clone()).collect()
    }

    /// Looks at all locks that a task waits for.
    pub(crate) fn look_at_waits(&self, engine: &Engine) {
        if self.is_quorum() {
            return; // See `gaps`.
        }
        let now = engine.now();
        let mut waits = self.waits.borrow_mut();
        let waits = &mut *waits;
        if !self.is_unharmed(now, CALM) {
            waits.free.fill(Free::default());
            return;
        }
        let remembered = if self.is_unharmed(now, FORGOTTEN) {
            0
        } else {
            REMEMBERED
        };
        for (lock, free) in waits.free.iter_mut().enumerate() {
            let waiting = waits.waiting.values();
            let mut waiting = waiting.filter(|one| one.1.locks.contains(&lock));
            if waiting.next().is_none() || !self.homes[lock].is_served(engine) {
                *free = Free::default();
                continue;
            }
            let (all, readers) = self.homes[lock].look(engine, |found| {
                found.map_or((true, true), |(_, record)| {
                    self.see_lingering(now, lock, &record);
                    (!record.is_held(), !record.is_wanted_to_write())
                })
            });
            free.all = all.then(|| free.all.unwrap_or(now));
            free.readers = readers.then(|| free.readers.unwrap_or(now));
        }
        self.look_at_lingering(engine, waits);
        for (begun, waiting) in waits.waiting.values() {
            if !engine.runs(waiting.of) {
                continue;
            }
            if self.others.borrow().are(waiting.of) {
                self.look_at_others_wait(engine, *begun, waiting);
                continue;
            }
            let free = waiting.locks.iter().map(|lock| {
                let free = &waits.free[*lock];
                if waiting.write {
                    free.all
                } else {
                    free.all.or(free.readers)
                }
            });
            let free: Option<Vec<Nanos>> = free.collect();
            let Some(free) = free.and_then(|all| all.into_iter().max()) else {
                continue;
            };
            let since = free.max(*begun);
            let mutex = waiting
                .locks
                .iter()
                .any(|lock| self.homes[*lock].is_mutex());
            if now
                > since
                    + waits.limit(since - waits.first(waiting), remembered)
                    + if mutex { waits.more } else { 0 }
            {
                let story = format!(
                    "{} waits, and could have had what it wants for {} ms",
                    waiting.name(),
                    (now - since) / MS
                );
                self.object("patience", now, story);
            }
        }
    }
}
