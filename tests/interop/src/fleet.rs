//! The processes of all sides.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dlock_tests::Worker;

use crate::side::Side;

/// What their programs are told.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) judge: u16,
    pub(crate) redis: Vec<u16>,
    pub(crate) key: String,
    pub(crate) lease: Duration,
    pub(crate) python: PathBuf,
    /// The side that frees each lock that it finds.
    pub(crate) careless: Option<Side>,
    /// Whether dlock's processes want fencing tokens.
    pub(crate) fenced: bool,
}

/// A place for a process, and the process that has it.
#[derive(Debug)]
struct Slot {
    side: Side,
    worker: Mutex<Worker>,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Fleet {
    terms: Terms,
    slots: Vec<Slot>,
}

impl Fleet {
    pub(crate) fn start(sides: &[Side], processes: usize, terms: Terms) -> Self {
        let sides = sides.iter().cycle().take(sides.len() * processes);
        let slot = |(number, side): (usize, &Side)| Slot {
            side: *side,
            worker: Mutex::new(spawn(*side, number, &terms)),
        };
        Self {
            slots: sides.enumerate().map(slot).collect(),
            terms,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn side(&self, slot: usize) -> Side {
        self.slots[slot].side
    }

    /// Kills a process (SIGKILL) and starts another in its place.
    pub(crate) fn replace(&self, slot: usize) {
        let mut worker = self.worker(slot);
        worker.kill();
        *worker = spawn(self.side(slot), slot, &self.terms);
    }

    pub(crate) fn pause(&self, slot: usize) {
        self.worker(slot).pause();
    }

    pub(crate) fn resume(&self, slot: usize) {
        self.worker(slot).resume();
    }

    /// Whether a process has ended: `Err` if not well, with what it said.
    pub(crate) fn ended(&self, slot: usize) -> Option<Result<(), String>> {
        let worker = self.worker(slot);
        let status = worker.ended()?;
        let said = || format!("{} ended, {status}: {}", self.side(slot), worker.output());
        Some(status.success().then_some(()).ok_or_else(said))
    }

    fn worker(&self, slot: usize) -> MutexGuard<'_, Worker> {
        let worker = self.slots[slot].worker.lock();
        worker.unwrap_or_else(PoisonError::into_inner)
    }
}

fn spawn(side: Side, slot: usize, terms: &Terms) -> Worker {
    let (program, mut arguments) = side.program(&terms.python);
    let manner = match side {
        side if terms.careless == Some(side) => "careless",
        Side::Dlock if terms.fenced => "fenced",
        _ => "careful",
    };
    let ports: Vec<_> = terms.redis.iter().map(u16::to_string).collect();
    arguments.extend([
        terms.judge.to_string().into(),
        ports.join(",").into(),
        OsString::from(&terms.key),
        terms.lease.as_millis().to_string().into(),
        slot.to_string().into(),
        manner.into(),
    ]);
    Worker::spawn(program, arguments)
}
