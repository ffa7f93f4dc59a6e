//! Leaving out faults, processes and operations for as long as the same promise is broken.

use crate::plan::{LockKind, Plan, Profile, When};
use crate::run::{Outcome, run_plan};

/// A small plan that fails.
#[derive(Debug)]
pub struct Shrunk {
    /// How it fails, with its timeline.
    pub outcome: Outcome,
    /// The part of it that is left.
    pub acquires: usize,
    /// The faults that are left.
    pub faults: usize,
    /// And of its processes.
    pub processes: usize,
}

struct Search {
    promise: String,
    /// How many runs that may take, and how many it has taken.
    most: u32,
    runs: u32,
    best: Plan,
}

/// Shrinks the plan of a seed; nothing if it does not fail.
#[must_use]
pub fn shrink(seed: u64, locks: LockKind, profile: Profile, wire: bool) -> Option<Shrunk> {
    shrink_plan(Plan::draw(seed, locks, profile), wire)
}

pub(crate) fn shrink_plan(plan: Plan, wire: bool) -> Option<Shrunk> {
    let first = run_plan(plan.clone(), false, false);
    let (promise, _) = first.violation.clone()?;
    let mut search = Search {
        promise,
        most: plan.setup.demands.profile.runs_to_shrink(),
        runs: 0,
        best: plan,
    };
    search.fix_times(&first);
    loop {
        let before = search.size();
        search.fewer_faults();
        search.fewer_processes();
        search.fewer_operations();
        if search.size() >= before || search.runs >= search.most {
            break;
        }
    }
    let outcome = run_plan(search.best.clone(), true, wire);
    Some(Shrunk {
        outcome,
        acquires: search.best.acquires(),
        faults: search.best.faults.len(),
        processes: search.best.processes.len(),
    })
}

impl Search {
    fn size(&self) -> usize {
        self.best.acquires() + self.best.faults.len() + self.best.processes.len()
    }

    /// Takes a plan if it fails in the same way.
    fn offer(&mut self, plan: Plan) -> bool {
        if self.runs >= self.most {
            return false;
        }
        self.runs += 1;
        let outcome = run_plan(plan.clone(), false, false);
        let same = (outcome.violation.as_ref()).is_some_and(|found| found.0 == self.promise);
        if same {
            self.best = plan;
            self.cut_rest(&outcome);
        }
        same
    }

    /// What came after the violation is not needed.
    fn cut_rest(&mut self, outcome: &Outcome) {
        for (process, came_to) in self.best.processes.iter_mut().zip(&outcome.came_to) {
            for (task, came_to) in process.tasks.iter_mut().zip(came_to) {
                task.ops.truncate(*came_to);
            }
        }
        let begun = |number| outcome.begun_at.iter().any(|(of, _)| *of == number);
        self.best.faults.retain(|fault| begun(fault.number));
    }

    /// Faults come when they came, whatever else is left out.
    fn fix_times(&mut self, first: &Outcome) {
        let mut plan = self.best.clone();
        for fault in &mut plan.faults {
            if let Some((_, at)) = (first.begun_at.iter()).find(|(of, _)| *of == fault.number) {
                fault.when = When::At(*at);
            }
        }
        if !self.offer(plan) {
            self.cut_rest(first);
        }
    }

    fn fewer_faults(&mut self) {
        let mut at = 0;
        while at < self.best.faults.len() {
            let mut plan = self.best.clone();
            plan.faults.remove(at);
            if !self.offer(plan) {
                at += 1;
            }
        }
    }

    fn fewer_processes(&mut self) {
        let mut at = 0;
        while at < self.best.processes.len() {
            let mut plan = self.best.clone();
            plan.processes.remove(at);
            if plan.processes.is_empty() || !self.offer(plan) {
                at += 1;
            }
        }
    }

    /// Leaves out whole tasks, then halves and smaller parts of their operations.
    fn fewer_operations(&mut self) {
        for process in 0..self.best.processes.len() {
            for task in 0..self.best.processes[process].tasks.len() {
                let all = self.best.processes[process].tasks[task].ops.len();
                let mut size = all;
                while size > 0 {
                    self.without_parts(process, task, size);
                    size /= 2;
                }
            }
        }
    }

    fn without_parts(&mut self, process: usize, task: usize, size: usize) {
        let mut at = 0;
        loop {
            let Some(found) = self.best.processes.get(process) else {
                return;
            };
            let length = found.tasks[task].ops.len();
            if at >= length || self.runs >= self.most {
                return;
            }
            let mut plan = self.best.clone();
            let end = (at + size).min(length);
            plan.processes[process].tasks[task].ops.drain(at..end);
            if !self.offer(plan) {
                at += size;
            }
        }
    }
}
