//! Trying all cases of all scopes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use parking_lot::Mutex;

use super::{late_copy, late_grant, one_fault};
use crate::plan::Plan;
use crate::run::{Outcome, run_plan};
use crate::shrink::{Shrunk, shrink_plan};

/// What came of it.
#[derive(Debug)]
pub struct Report {
    /// How many cases were tried.
    pub cases: u64,
    /// The first case that failed, with what was broken.
    pub failed: Option<(u64, String)>,
    /// Operations of all cases.
    pub operations: u64,
}

/// How many cases there are.
#[must_use]
pub fn cases() -> u64 {
    SCOPES.iter().map(|(cases, _)| cases()).sum()
}

/// How many cases a scope has, and their plans.
type Scope = (fn() -> u64, fn(u64) -> Plan);

const SCOPES: [Scope; 3] = [
    (late_grant::cases, late_grant::plan_of),
    (late_copy::cases, late_copy::plan_of),
    (one_fault::cases, one_fault::plan_of),
];

/// The plan of a case; of the last one there is, if that has none.
fn plan(mut case: u64) -> Plan {
    for (cases, plan_of) in SCOPES {
        if case < cases() {
            return plan_of(case);
        }
        case -= cases();
    }
    one_fault::plan_of(one_fault::cases() - 1)
}

/// Tries all cases, or one in so many, in so many threads.
#[must_use]
pub fn exhaust(threads: usize, every: u64) -> Report {
    let [next, tried, operations] = [(); 3].map(|()| AtomicU64::new(0));
    let (stop, failed) = (AtomicBool::new(false), Mutex::new(None));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let case = next.fetch_add(every, Ordering::Relaxed);
                    if case >= cases() {
                        return;
                    }
                    tried.fetch_add(1, Ordering::Relaxed);
                    let outcome = run_plan(plan(case), false, false);
                    operations.fetch_add(outcome.operations, Ordering::Relaxed);
                    if let Some((promise, story)) = outcome.violation {
                        *failed.lock() = Some((case, format!("{promise}: {story}")));
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    Report {
        cases: tried.into_inner(),
        failed: failed.into_inner(),
        operations: operations.into_inner(),
    }
}

/// Runs a case, and tells all of it.
#[must_use]
pub fn run_case(case: u64, wire: bool) -> Outcome {
    run_plan(plan(case), true, wire)
}

/// Shrinks a case that fails.
#[must_use]
pub fn shrink_case(case: u64, wire: bool) -> Option<Shrunk> {
    shrink_plan(plan(case), wire)
}
