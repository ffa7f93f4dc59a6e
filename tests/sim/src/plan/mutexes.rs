//! Mutexes in a plan: which locks are some, and who takes them without dlock.

use super::{Plan, ProcessPlan, TaskPlan};
use crate::engine::{MS, Nanos, Random, SECOND};
use crate::weights;

/// How others take a string as a mutex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// As redis-py does.
    RedisPy,
    /// As node-redlock does.
    NodeRedlock,
}

/// A process that has no dlock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Foreign {
    pub(crate) dialect: Dialect,
    /// How often it looks whether a mutex is free.
    pub(crate) poll: Nanos,
    /// So many of a thousand times it leaves a mutex to its expiry.
    pub(crate) forgets: u32,
}

impl Plan {
    /// Makes mutexes of locks.
    pub(super) fn add_mutexes(&mut self) {
        let random = &mut Random::of(self.seed, "mutexes", 0);
        self.setup.mutexes = random.weighted(&weights::MUTEXES);
        let fenced = random.one(&[0, 0, 500, 1000]);
        for process in &mut self.processes {
            process.fenced = random.chance(fenced);
            process.do_one_in(3);
        }
        let tasks = self.processes.iter().flat_map(|process| &process.tasks);
        let mut task = tasks.map(|task| task.number).max().unwrap_or(0);
        for _ in 0..random.weighted(&weights::FOREIGN_PROCESSES) {
            let number = self.processes.len();
            let (from, to) = weights::FOREIGN_ACQUIRES;
            let acquires = random.within(from, to);
            let mut process = self.processes[0].clone();
            process.tasks.truncate(1);
            process.tasks[0].ops = (0..acquires).collect();
            let tasks = (0..random.within(1, 3)).map(|_| {
                task += 1;
                TaskPlan {
                    number: task,
                    ..process.tasks[0].clone()
                }
            });
            self.processes.push(ProcessPlan {
                number,
                lease: random.weighted(&weights::LEASES) * MS,
                ppm: random.weighted(&weights::CLIENT_CLOCKS),
                min_holds: false,
                fenced: false,
                foreign: Some(Foreign::draw(random)),
                tasks: tasks.collect(),
                ..process
            });
        }
    }
}

impl Foreign {
    fn draw(random: &mut Random) -> Self {
        let dialect = random.one(&[Dialect::RedisPy, Dialect::NodeRedlock]);
        Self {
            dialect,
            poll: match dialect {
                Dialect::RedisPy => random.one(&[100 * MS, 100 * MS, 20 * MS]),
                Dialect::NodeRedlock => random.one(&[200 * MS, 50 * MS]),
            },
            forgets: random.one(&[0, 0, 20]),
        }
    }
}

/// One use of a mutex by such a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ForeignOp {
    pub(crate) lock: usize,
    pub(crate) patience: Nanos,
    pub(crate) hold: Nanos,
    /// Whether it is made longer meanwhile.
    pub(crate) extends: bool,
    /// Whether it is left to its expiry.
    pub(crate) forgets: bool,
    pub(crate) rest: Nanos,
}

impl Plan {
    /// The operation with this number of a foreign task; nothing if its lock is none for it.
    pub(crate) fn foreign_op(
        &self,
        process: &ProcessPlan,
        task: u64,
        number: u64,
    ) -> Option<ForeignOp> {
        let foreign = process.foreign?;
        let random = &mut Random::of(self.seed, "foreign", task << 32 | number);
        let lock = random.below(self.setup.locks);
        let mutexes = self.setup.mutexes;
        let lock = if mutexes.has(lock) { lock } else { 0 };
        mutexes.has(lock).then(|| ForeignOp {
            lock,
            patience: random.weighted(&[(1, 0), (2, SECOND), (4, 120 * SECOND)]),
            hold: random.scaled(MS / 10, process.lease.min(300 * MS)),
            extends: random.chance(200),
            forgets: random.chance(foreign.forgets),
            rest: random.scaled(MS / 10, 300 * MS),
        })
    }
}
