//! Mutexes in a plan: which locks are some, and who takes them without dlock.

use dlock_load::{Op, Shape};

use super::{Kind, LockKind, Mutexes, Plan, ProcessPlan, TaskPlan};
use crate::weights;

impl Plan {
    /// Makes mutexes of locks.
    pub(super) fn add_mutexes(&mut self) {
        let random = &mut self.draw.random("mutexes", 0);
        self.mutexes = match self.draw.lock {
            LockKind::Rw => return,
            LockKind::Mutex => random.weighted(&weights::MUTEXES),
            LockKind::Quorum => random.weighted(&weights::MUTEXES_OF_QUORUMS),
        };
        let fenced = random.one(&weights::FENCED);
        for process in &mut self.processes {
            if random.chance(fenced) {
                process.mutexes_as = dlock::LockKind::FencedMutex;
            }
        }
        if self.draw.lock == LockKind::Mutex {
            self.add_others();
        }
    }

    /// Processes that have no dlock.
    fn add_others(&mut self) {
        let random = &mut self.draw.random("others", 0);
        let tasks = self.processes.iter().flat_map(|process| &process.tasks);
        let mut number = tasks.map(|task| task.number).max().unwrap_or(0);
        for _ in 0..random.weighted(&weights::OTHERS) {
            let shape = Shape::draw(random);
            let tasks = (0..random.within(1, 3)).map(|_| {
                number += 1;
                TaskPlan { number, shape }
            });
            self.processes.push(ProcessPlan {
                system: Kind::Plain,
                lease: random.weighted(&weights::LEASES),
                tasks: tasks.collect(),
                ..self.processes[0].clone()
            });
        }
    }

    /// As what a process takes a lock.
    pub(crate) fn taken_as(&self, process: usize, lock: usize) -> dlock::LockKind {
        if self.mutexes.has(lock) {
            self.processes[process].mutexes_as
        } else {
            dlock::LockKind::Rw
        }
    }

    /// Makes an operation fit for the locks it is about, which are of one kind then.
    pub(super) fn fit(&self, op: &mut Op, system: Kind) {
        if system != Kind::Dlock && self.mutexes == Mutexes::Every2nd {
            // Others know no read/write locks.
            op.locks.truncate(1);
            op.locks[0] &= !1;
        }
        let first = self.mutexes.has(op.locks[0]);
        op.locks.retain(|lock| self.mutexes.has(*lock) == first);
        if first {
            op.write = true;
            op.owner = None;
            op.inner = None;
        }
    }
}
