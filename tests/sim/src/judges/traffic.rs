//! The last time that each lock was held or wanted, and the tasks that did.

use std::collections::BTreeMap;

use super::Judges;
use super::patience::Waiting;
use super::record::Record;
use crate::engine::{Engine, Nanos, ProcId, SECOND};

/// How long after its last use a process may still have to say something about a lock.
const LAST_WORDS: Nanos = 2 * SECOND;

/// What has been seen of all locks.
#[derive(Debug)]
pub(super) struct Traffic {
    locks: Vec<Seen>,
    used: BTreeMap<(usize, ProcId), Nanos>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// When a task last had it or wanted it, and when to write.
    any: Option<Nanos>,
    write: Option<Nanos>,
}

impl Traffic {
    pub(super) fn new(locks: usize) -> Self {
        Self {
            locks: vec![Seen::default(); locks],
            used: BTreeMap::new(),
        }
    }

    /// A task has or wants a lock, or no longer does.
    pub(super) fn note(&mut self, now: Nanos, lock: usize, write: bool) {
        let seen = &mut self.locks[lock];
        seen.any = Some(now);
        if write {
            seen.write = Some(now);
        }
    }

    /// A process has or wants a lock, or no longer does.
    pub(super) fn note_of(&mut self, now: Nanos, lock: usize, write: bool, of: ProcId) {
        self.note(now, lock, write);
        self.used.insert((lock, of), now);
    }

    /// What a lock's record says.
    pub(super) fn note_record(&mut self, now: Nanos, lock: usize, record: &Record<'_>) {
        let holds = record
            .holds
            .iter()
            .map(|(_, hold)| (hold.until, hold.write));
        let places = record.places().map(|(place, write)| (place.until, write));
        if record.free > record.now {
            self.note(now, lock, true);
        }
        for (until, write) in holds.chain(places) {
            // Expired holds are in the way until a request has noticed them.
            if until == 0 || until > record.now {
                self.note(now, lock, write);
            }
        }
    }
}

impl Traffic {
    /// When a process last had a lock or wanted it.
    pub(super) fn used_last(&self, lock: usize, of: ProcId) -> Nanos {
        self.used.get(&(lock, of)).copied().unwrap_or(0)
    }
}

impl Judges {
    /// Whether a task had or wanted one of the locks since then, so that it was busy for a waiter.
    pub(super) fn was_busy(
        &self,
        engine: &Engine,
        number: u64,
        asked: Nanos,
        waiting: &Waiting,
    ) -> bool {
        let traffic = self.traffic.borrow();
        waiting.locks.iter().any(|lock| {
            let seen = &traffic.locks[*lock];
            let at = if waiting.write { seen.any } else { seen.write };
            at.is_some_and(|at| at >= asked)
                || self.is_wanted_by_others(number, *lock, waiting.write)
                || self.is_believed(*lock, waiting.write)
                || self.homes[*lock].is_held_on_its_way(engine)
        })
    }

    /// A process has sent something about a lock that it neither has nor wants.
    pub(super) fn look_at_sender(&self, engine: &Engine, lock: usize, of: ProcId) {
        let now = engine.now();
        if !self.must_be_kept(now) || self.uses(lock, of) || self.others.borrow().are(of) {
            return;
        }
        let last = self.traffic.borrow().used.get(&(lock, of)).copied();
        let lingers = self.lingering.borrow().linger(of);
        let more = if self.is_quorum() {
            // A server that was frozen may answer late; what is to be made sure of then takes its time from there.
            2 * self.strays_for()
        } else if self.homes[lock].is_mutex() {
            self.strays_for()
        } else {
            0
        };
        if last.is_none_or(|last| now > last + LAST_WORDS + lingers + more) {
            let story = format!("p{} asks about lock {lock}, which it does not use", of.0);
            self.object("leftovers", now, story);
        }
    }
}
