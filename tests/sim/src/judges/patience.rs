//! Nobody waits on a free lock for longer than a heartbeat and a hand-over.

use std::collections::BTreeMap;

use super::Judges;
use crate::engine::{Engine, MS, Nanos, ProcId, SECOND};
use crate::plan::Plan;

/// How often waiters look by themselves.
const HEARTBEAT: Nanos = 300 * MS;
/// How long after a fault waits are judged again: connections are back, and places of the dead are over.
const CALM: Nanos = 8 * SECOND;

/// Somebody waits.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) of: ProcId,
    pub(crate) task: u64,
    pub(crate) locks: Vec<usize>,
}

/// Everybody who waits, and since when locks are free in spite of that.
#[derive(Debug)]
pub(super) struct Waits {
    waiting: BTreeMap<u64, (Nanos, Waiting)>,
    next: u64,
    free_since: Vec<Option<Nanos>>,
    /// A heartbeat and a hand-over.
    limit: Nanos,
}

impl Waits {
    pub(super) fn new(plan: &Plan, locks: usize) -> Self {
        let pace = plan.setup.pace;
        let lost = if pace.lost > 0 { 4 * pace.spike } else { 0 };
        let trip = 2 * (pace.base + pace.jitter);
        Self {
            waiting: BTreeMap::new(),
            next: 0,
            free_since: vec![None; locks],
            limit: HEARTBEAT + HEARTBEAT / 50 + 20 * MS + 10 * trip + lost,
        }
    }
}

impl Judges {
    /// Somebody begins to wait; the number is for [`Self::stops_waiting`].
    pub(crate) fn waits(&self, now: Nanos, waiting: Waiting) -> u64 {
        let mut waits = self.waits.borrow_mut();
        waits.next += 1;
        let number = waits.next;
        waits.waiting.insert(number, (now, waiting));
        number
    }

    pub(crate) fn stops_waiting(&self, number: u64) {
        self.waits.borrow_mut().waiting.remove(&number);
    }

    /// Who waits now, for a story.
    pub(crate) fn who_waits(&self) -> Vec<Waiting> {
        let waits = self.waits.borrow();
        waits.waiting.values().map(|one| one.1.clone()).collect()
    }

    /// Looks at all locks that somebody waits for.
    pub(crate) fn look_at_waits(&self, engine: &Engine) {
        let now = engine.now();
        let mut waits = self.waits.borrow_mut();
        let waits = &mut *waits;
        if !self.is_calm(now, CALM) {
            waits.free_since.fill(None);
            return;
        }
        for (lock, since) in waits.free_since.iter_mut().enumerate() {
            let wanted = waits
                .waiting
                .values()
                .any(|one| one.1.locks.contains(&lock));
            let free = wanted
                && self.homes[lock].look(engine, |found| {
                    found.is_none_or(|(_, record)| !record.is_held())
                });
            *since = if free { since.or(Some(now)) } else { None };
        }
        for (begun, waiting) in waits.waiting.values() {
            if !engine.runs(waiting.of) {
                continue;
            }
            let free: Option<Vec<Nanos>> = (waiting.locks.iter())
                .map(|lock| waits.free_since[*lock])
                .collect();
            let Some(free) = free.and_then(|all| all.into_iter().max()) else {
                continue;
            };
            let since = free.max(*begun);
            if now > since + waits.limit {
                let story = format!(
                    "p{} t{} waits for locks {:?}, which have been free for {} ms",
                    waiting.of.0,
                    waiting.task,
                    waiting.locks,
                    (now - since) / MS
                );
                self.object("patience", now, story);
            }
        }
    }
}
