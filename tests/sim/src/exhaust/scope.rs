//! The scope: three tasks on one lock, four operations, at most one fault at each of some moments.
//!
//! * the tasks: three processes, or two of which one has two tasks; the first task has two operations, the others one;
//! * each operation: to write; to read; to write with a patience of 3 ms; to write, dropped at its second or at its fourth
//!   poll. All hold for 1 ms, and the first of a task begins 0 or 0.4 ms late, as its number says;
//! * the fault: none, or one of [`FAULTS`], at one of [`MOMENTS`].
//!
//! The network takes 0.1 ms in each direction. Leases are the shortest there are.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use parking_lot::Mutex;

use crate::engine::{Cut, End, MS, Mend, Messages, Nanos, Pace};
use crate::plan::{
    Ending, Fault, FaultPlan, Op, Outcome, Patience, Plan, ProcessPlan, Setup, Shape, TaskPlan,
    When,
};
use crate::run::run_plan;
use crate::server::Flavour;
use crate::shrink::{Shrunk, shrink_plan};

/// When the fault comes: while clients connect nothing can go wrong yet.
const MOMENTS: [Nanos; 8] = [
    2_000_000, 2_300_000, 2_700_000, 3_100_000, 3_600_000, 4_200_000, 5_000_000, 6_500_000,
];

const KINDS: usize = 5;
const OPS: u32 = 4;

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

fn faults() -> Vec<Option<Fault>> {
    let mut faults = vec![None];
    for process in 0..2 {
        for after in 0..3 {
            faults.push(Some(Fault::HoldBack {
                process,
                node: 0,
                after,
                delay: 300 * MS,
                breaks: true,
            }));
        }
        faults.extend([
            Some(Fault::Reset { process, node: 0 }),
            Some(Fault::Pause {
                process,
                suspend: false,
                lasts: 250 * MS,
            }),
            Some(Fault::Crash {
                process,
                end: End::Killed,
                restart: None,
            }),
            Some(Fault::Cut {
                process,
                node: 0,
                cut: Cut::Answers,
                mend: Mend::Late,
                lasts: 250 * MS,
            }),
            Some(Fault::Messages {
                process,
                messages: Messages {
                    dropped: 1000,
                    doubled: 0,
                    late: 0,
                },
                lasts: 50 * MS,
            }),
        ]);
    }
    for outcome in [
        Outcome::Moves { told: true },
        Outcome::Stays {
            source_first: false,
        },
        Outcome::Stays { source_first: true },
    ] {
        faults.push(Some(Fault::Migrate {
            lock: 0,
            to: 0,
            steps: [MS / 2; 4],
            outcome,
        }));
    }
    for at_call in [3, 5] {
        faults.push(Some(Fault::FailScript {
            node: 0,
            at_call,
            dies: None,
            after: 2 * MS,
        }));
    }
    faults.push(Some(Fault::ScriptFlush { node: 0 }));
    faults
}

/// How many cases there are.
#[must_use]
pub fn cases() -> u64 {
    let faults = (faults().len() as u64 - 1) * MOMENTS.len() as u64 + 1;
    2 * (KINDS as u64).pow(OPS) * faults
}

/// The plan of a case.
fn plan(case: u64) -> Plan {
    let mut left = case;
    let mut choose = |of: u64| {
        let choice = left % of;
        left /= of;
        usize::try_from(choice).unwrap_or(0)
    };
    let apart = choose(2) == 0;
    let kinds: Vec<usize> = (0..OPS).map(|_| choose(KINDS as u64)).collect();
    let faults = faults();
    let moments = MOMENTS.len();
    let at = choose(((faults.len() - 1) * moments + 1) as u64);
    let (fault, moment) = match at {
        0 => (None, 0),
        at => (
            faults[1 + (at - 1) / moments].clone(),
            MOMENTS[(at - 1) % moments],
        ),
    };
    let slots = matches!(fault, Some(Fault::Migrate { .. }));
    let tasks: [&[usize]; 3] = [&kinds[..2], &kinds[2..3], &kinds[3..]];
    let task = |number: usize| TaskPlan {
        number: number as u64,
        shape: Shape::Even,
        ops: (0..tasks[number].len() as u64).collect(),
        given: Some(
            (tasks[number].iter())
                .map(|kind| op(*kind, number))
                .collect(),
        ),
    };
    let homes: &[&[usize]] = if apart {
        &[&[0], &[1], &[2]]
    } else {
        &[&[0, 1], &[2]]
    };
    Plan {
        seed: 1,
        setup: setup(slots),
        processes: homes
            .iter()
            .enumerate()
            .map(|(number, home)| ProcessPlan {
                number,
                lease: 200 * MS,
                response_timeout: 100 * MS,
                retry_for: 1000 * MS,
                ppm: 0,
                tasks: home.iter().map(|number| task(*number)).collect(),
            })
            .collect(),
        faults: fault
            .into_iter()
            .map(|fault| FaultPlan {
                number: 0,
                when: When::At(moment),
                fault,
            })
            .collect(),
    }
}

fn setup(slots: bool) -> Setup {
    let masters = if slots { 2 } else { 0 };
    Setup {
        flavour: if slots {
            Flavour::Redis62
        } else {
            Flavour::Redis70
        },
        masters,
        replicas: 0,
        full_coverage: false,
        pace: Pace {
            base: MS / 10,
            jitter: 0,
            lost: 0,
            spike: 0,
        },
        changes: MS / 10,
        bus: MS / 10,
        server_ppm: 0,
        ahead: vec![0; masters.max(1)],
        drawn_order: false,
        locks: 1,
    }
}

fn op(kind: usize, number: usize) -> Op {
    let (write, patience, cancel) = match kind {
        0 => (true, Patience::Forever, None),
        1 => (false, Patience::Forever, None),
        2 => (true, Patience::For(3 * MS), None),
        3 => (true, Patience::Forever, Some(2)),
        _ => (true, Patience::Forever, Some(4)),
    };
    Op {
        locks: vec![0],
        write,
        patience,
        owner: None,
        cancel,
        hold: MS,
        until_lost: false,
        inner: None,
        ending: if number == 1 {
            Ending::Drop
        } else {
            Ending::Release
        },
        rest: number as u64 * 400_000,
    }
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

/// Shrinks a case that fails.
#[must_use]
pub fn shrink_case(case: u64, wire: bool) -> Option<Shrunk> {
    shrink_plan(plan(case), wire)
}
