//! Two tasks of one process, and one of another, on one lock. The answer to the first acquire takes about as long as its lease
//! lasts, so that the hold is over before, while or after it is passed on in its process.
//!
//! * how long the way to the server takes, in each direction: from [`FIRST`] on, in [`STEPS`] steps of [`STEP`];
//! * for how long the first task has the lock, and the second: one of [`HOLDS`];
//! * whether the second one writes.

use super::Choices;
use super::setup::{op, plan};
use crate::engine::{MS, Nanos};
use crate::plan::{Fault, Plan};

/// Before that clients connect.
const CONNECTED: Nanos = 2 * MS;

/// Leases last for 200 ms.
const FIRST: Nanos = 90 * MS;
const STEP: Nanos = MS / 10;
const STEPS: usize = 110;

const HOLDS: [Nanos; 4] = [MS / 5, MS, 2 * MS, 4 * MS];

/// How many cases there are.
pub(super) fn cases() -> u64 {
    (STEPS * HOLDS.len().pow(2) * 2) as u64
}

/// The plan of a case.
pub(super) fn plan_of(case: u64) -> Plan {
    let mut choices = Choices::of(case);
    let slow = FIRST + choices.next(STEPS) as Nanos * STEP;
    let [first, second] = [(); 2].map(|()| HOLDS[choices.next(HOLDS.len())]);
    let writes = choices.next(2) == 0;
    let mut tasks = [
        vec![op(true, first); 3],
        vec![op(writes, second); 3],
        vec![op(true, MS)],
    ];
    // When the way has become slow.
    for (task, rest) in tasks.iter_mut().zip([3 * MS, 3 * MS + MS / 2, 4 * MS]) {
        task[0].rest = rest;
    }
    let fault = Fault::Slow {
        process: 0,
        node: 0,
        slow,
        lasts: 1000 * MS,
    };
    let mut plan = plan(&tasks, false, Some((CONNECTED, fault)));
    for process in &mut plan.processes {
        process.response_timeout = 400 * MS;
    }
    plan
}
