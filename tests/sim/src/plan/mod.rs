//! What a seed means: who does what, and what goes wrong. Drawn once, as data, so that parts of it can be left out.

mod crowd;
mod draw;
mod fault;
mod linger;
mod long;
mod mutexes;
mod profile;
mod quorum;
mod setup;
mod storm;

pub(crate) use self::fault::{Breaks, Fault, FaultClass, FaultPlan, Outcome, Theme, When};
pub(crate) use self::mutexes::{Dialect, Foreign, ForeignOp};
pub(crate) use self::profile::Demands;
pub use self::profile::Profile;
pub(crate) use self::setup::Setup;
pub(crate) use self::storm::WINDOW;
pub use dlock_load::LockKind;
pub(crate) use dlock_load::{Ending, Mutexes, Op, Patience, Shape};

/// One task of a process.
#[derive(Debug, Clone)]
pub(crate) struct TaskPlan {
    /// What its operations are drawn by.
    pub(crate) number: u64,
    pub(crate) shape: Shape,
    /// Which of its operations it does.
    pub(crate) ops: Vec<u64>,
    /// Its operations, if they are not drawn.
    pub(crate) given: Option<Vec<Op>>,
}

/// One process.
#[derive(Debug, Clone)]
pub(crate) struct ProcessPlan {
    /// Its number, which it keeps when others are left out.
    pub(crate) number: usize,
    pub(crate) lease: u64,
    pub(crate) response_timeout: u64,
    pub(crate) retry_for: u64,
    /// For how long a task may hold a lock.
    pub(crate) max_hold: Option<u64>,
    pub(crate) ppm: i32,
    /// Whether its locks may stay taken after they were given back.
    pub(crate) min_holds: bool,
    /// For how long it keeps read/write locks for its next task.
    pub(crate) linger: Option<u64>,
    /// Whether it asks for tokens of mutexes.
    pub(crate) fenced: bool,
    /// How it takes mutexes if it has no dlock.
    pub(crate) foreign: Option<Foreign>,
    pub(crate) tasks: Vec<TaskPlan>,
}

impl ProcessPlan {
    /// A part of it: where each acquire takes servers longer, many short seeds find more than a few long ones.
    fn do_one_in(&mut self, parts: usize) {
        for task in &mut self.tasks {
            task.ops.truncate(task.ops.len().div_ceil(parts));
        }
    }
}

/// A whole seed.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) setup: Setup,
    pub(crate) processes: Vec<ProcessPlan>,
    pub(crate) faults: Vec<FaultPlan>,
}

impl Plan {
    /// How many acquires it has.
    pub(crate) fn acquires(&self) -> usize {
        let tasks = self.processes.iter().flat_map(|process| &process.tasks);
        tasks.map(|task| task.ops.len()).sum()
    }
}
