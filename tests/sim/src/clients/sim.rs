//! What everything in one run shares.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use dlock::Client;

use crate::engine::{Engine, Nanos, ProcId};
use crate::judges::Judges;
use crate::plan::Plan;
use crate::server::{Migration, NodeId};

/// One run of a plan.
pub(crate) struct Sim {
    pub(crate) engine: Rc<Engine>,
    pub(crate) plan: Rc<Plan>,
    pub(crate) judges: Rc<Judges>,
    /// Each process of the plan as it is now.
    pub(crate) processes: RefCell<Vec<Running>>,
    /// Acquires that have begun, and operations that have ended.
    pub(crate) begun: Cell<usize>,
    pub(crate) operations: Cell<u64>,
    /// Tasks that are not through, and processes that are to start again.
    pub(crate) workers: Cell<usize>,
    pub(crate) restarts: Cell<usize>,
    /// Faults that were let loose, and how many are at work.
    pub(crate) faults: Cell<usize>,
    pub(crate) at_work: Cell<usize>,
    /// The faults among them that do harm.
    pub(crate) harm: Cell<usize>,
    /// Slots that are being moved: an operator moves each only once at a time.
    pub(crate) moving: RefCell<Vec<Migration>>,
    /// Slots that have moved, or not, and must not move again yet.
    pub(crate) rests: RefCell<Vec<u16>>,
    /// Servers of a quorum with which something is wrong.
    pub(crate) troubled: RefCell<Vec<NodeId>>,
    /// When which fault began.
    pub(crate) begun_at: RefCell<Vec<(u64, Nanos)>>,
}

/// A process of the plan.
pub(crate) struct Running {
    pub(crate) of: ProcId,
    pub(crate) client: Option<Client>,
    /// How far its tasks have come.
    pub(crate) cursors: Rc<Vec<Cell<usize>>>,
    /// Whether it is asked to end.
    pub(crate) ending: bool,
}

impl Sim {
    /// How many locks there are, whatever the shapes want.
    pub(crate) fn locks(plan: &Plan) -> usize {
        plan.setup.locks.max(4)
    }

    /// An operation has come to its end.
    pub(crate) fn count(&self) {
        self.operations.set(self.operations.get() + 1);
    }

    /// Where the process of the plan with this number is, if it is there.
    pub(crate) fn process(&self, number: usize) -> Option<usize> {
        let mut numbers = self.plan.processes.iter().map(|process| process.number);
        let found = numbers.position(|found| found == number)?;
        (found < self.processes.borrow().len()).then_some(found)
    }
}

/// A task at work, until dropped.
pub(crate) struct Worker(Rc<Sim>);

impl Worker {
    pub(crate) fn new(sim: &Rc<Sim>) -> Self {
        sim.workers.set(sim.workers.get() + 1);
        Self(Rc::clone(sim))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.workers.set(self.0.workers.get() - 1);
    }
}
