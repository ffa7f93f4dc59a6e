//! When faults begin and end.

use std::rc::Rc;

use super::{operator, processes, servers};
use crate::clients::Sim;
use crate::engine::{Engine, Nanos};
use crate::history::Kind;
use crate::plan::{FaultPlan, When};

/// Lets loose what is due by the number of acquires that have begun.
pub(crate) fn look(sim: &Rc<Sim>) {
    while let Some(fault) = sim.plan.faults.get(sim.faults.get()) {
        let at = match fault.when {
            When::After(acquires, _) if acquires > sim.begun.get() => return,
            When::After(_, delay) => sim.engine.now() + delay,
            When::At(at) => at,
        };
        sim.faults.set(sim.faults.get() + 1);
        let (sim, fault) = (Rc::clone(sim), fault.clone());
        let engine = Rc::clone(&sim.engine);
        engine.at(at, Box::new(move |_| begin(&sim, &fault)));
    }
}

/// Something is wrong until the end of this.
pub(super) struct AtWork {
    sim: Rc<Sim>,
    harmless: bool,
}

impl AtWork {
    fn new(sim: &Rc<Sim>, harmless: bool) -> Self {
        sim.at_work.set(sim.at_work.get() + 1);
        sim.judges.calm(sim.engine.now(), false);
        if !harmless {
            sim.harm.set(sim.harm.get() + 1);
            sim.judges.unharmed(None);
        }
        Self {
            sim: Rc::clone(sim),
            harmless,
        }
    }

    /// Does something later, which ends this unless it takes it along.
    pub(super) fn then(self, after: Nanos, act: impl FnOnce(&Engine, Self) + 'static) {
        let engine = Rc::clone(&self.sim.engine);
        engine.at(
            engine.now() + after,
            Box::new(move |engine| act(engine, self)),
        );
    }

    pub(super) fn sim(&self) -> &Rc<Sim> {
        &self.sim
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        let Self { sim, harmless } = self;
        let now = sim.engine.now();
        sim.at_work.set(sim.at_work.get() - 1);
        if sim.at_work.get() == 0 {
            sim.judges.calm(now, true);
        }
        if !*harmless {
            sim.harm.set(sim.harm.get() - 1);
            if sim.harm.get() == 0 {
                sim.judges.unharmed(Some(now));
            }
        }
    }
}

fn begin(sim: &Rc<Sim>, planned: &FaultPlan) {
    let fault = &planned.fault;
    let now = sim.engine.now();
    sim.begun_at.borrow_mut().push((planned.number, now));
    sim.engine.step("fault", 0, &[]);
    sim.engine.tell(Kind::Fault, || format!("{fault:?}"));
    let at_work = AtWork::new(sim, fault.is_harmless());
    let at_work = processes::begin(at_work, fault);
    if let Some(at_work) = at_work.and_then(|at_work| operator::begin(at_work, fault)) {
        servers::begin(at_work, fault);
    }
}

/// Whether all faults are over.
pub(crate) fn settle(sim: &Sim) -> bool {
    sim.at_work.get() == 0
}
