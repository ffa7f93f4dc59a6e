//! The scope: three tasks on one lock, four operations, at most one fault at each of some moments.
//!
//! * the tasks: three processes, or two of which one has two tasks; the first task has two operations, the others one;
//! * each operation: to write; to read; to write with a patience of 3 ms; to write, dropped at its second or at its fourth
//!   poll. All hold for 1 ms, and the first of a task begins 0 or 0.4 ms late, as its number says;
//! * the fault: none, or one of [`FAULTS`], at one of [`MOMENTS`].
//!
//! The network takes 0.1 ms in each direction. Leases are the shortest there are.

use super::Choices;
use super::setup::{op, plan};
use crate::engine::{Cut, End, MS, Mend, Messages, Nanos};
use crate::plan::{Breaks, Ending, Fault, Op, Outcome, Patience, Plan};

/// When the fault comes: while clients connect nothing can go wrong yet.
const MOMENTS: [Nanos; 8] = [
    2_000_000, 2_300_000, 2_700_000, 3_100_000, 3_600_000, 4_200_000, 5_000_000, 6_500_000,
];

const KINDS: usize = 5;
const OPS: usize = 4;

fn faults() -> Vec<Option<Fault>> {
    let mut faults = vec![None];
    for process in 0..2 {
        for after in 0..3 {
            faults.push(Some(Fault::HoldBack {
                process,
                node: 0,
                after,
                delay: 300 * MS,
                breaks: Breaks::Late,
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
pub(super) fn cases() -> u64 {
    let faults = (faults().len() - 1) * MOMENTS.len() + 1;
    let kinds: usize = [KINDS; OPS].iter().product();
    (2 * kinds * faults) as u64
}

/// The plan of a case.
pub(super) fn plan_of(case: u64) -> Plan {
    let mut choices = Choices::of(case);
    let apart = choices.next(2) == 0;
    let kinds = [(); OPS].map(|()| choices.next(KINDS));
    let faults = faults();
    let moments = MOMENTS.len();
    let fault = match choices.next((faults.len() - 1) * moments + 1) {
        0 => None,
        at => (faults[1 + (at - 1) / moments].clone())
            .map(|fault| (MOMENTS[(at - 1) % moments], fault)),
    };
    let task = |number: usize, kinds: &[usize]| -> Vec<Op> {
        kinds.iter().map(|kind| operation(*kind, number)).collect()
    };
    let tasks = [
        task(0, &kinds[..2]),
        task(1, &kinds[2..3]),
        task(2, &kinds[3..]),
    ];
    plan(&tasks, apart, fault)
}

fn operation(kind: usize, number: usize) -> Op {
    let (write, patience, cancel) = match kind {
        0 => (true, Patience::Forever, None),
        1 => (false, Patience::Forever, None),
        2 => (true, Patience::For(3 * MS), None),
        3 => (true, Patience::Forever, Some(2)),
        _ => (true, Patience::Forever, Some(4)),
    };
    Op {
        patience,
        cancel,
        ending: if number == 1 {
            Ending::Drop
        } else {
            Ending::Release
        },
        rest: number as u64 * 400_000,
        ..op(write, MS)
    }
}
