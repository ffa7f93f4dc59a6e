//! Three tasks on one lock, three operations each, and a late copy of one request.
//!
//! * the tasks: three processes, or two of which one has two tasks. The third begins at one of [`BEGINS`];
//! * what each of them does: one of [`LIVES`];
//! * the copy: of any of the first [`REQUESTS`] that the first or the last process sends, once they are connected. It is held
//!   back as one of [`COPIES`] says: either its connection breaks as it leaves, so that it is sent again at once; or no answer
//!   comes for so long that the library gives the request up, and asks anew.

use super::Choices;
use super::setup::{op, plan};
use crate::engine::{MS, Nanos};
use crate::plan::{Breaks, Fault, Op, Patience, Plan};

/// Before that clients connect.
const CONNECTED: Nanos = 2 * MS;

const REQUESTS: usize = 12;

/// How long it is held back, and whether its connection breaks. Requests are given up after 0.1 s (a copy that comes
/// soon after finds its task at the next operation) and are valid for a second more; leases last for 0.2 s.
const COPIES: [(Nanos, Breaks); 8] = [
    (3 * MS, Breaks::AtOnce),
    (8 * MS, Breaks::AtOnce),
    (12 * MS, Breaks::AtOnce),
    (20 * MS, Breaks::AtOnce),
    (90 * MS, Breaks::AtOnce),
    (250 * MS, Breaks::AtOnce),
    (101 * MS, Breaks::Not),
    (104 * MS, Breaks::Not),
];

/// When the third task begins: with the others, when their first slice may end, and when a request at that end has been sent
/// again.
const BEGINS: [Nanos; 3] = [4 * MS / 5, 8 * MS, 15 * MS];

/// What a task may do.
const LIVES: [fn() -> Vec<Op>; 6] = [
    || vec![op(true, 2 * MS); 3],
    || vec![op(false, 2 * MS); 3],
    || vec![op(true, 2 * MS), op(false, 2 * MS), op(true, 2 * MS)],
    || {
        let hasty = Op {
            patience: Patience::For(3 * MS),
            ..op(true, 2 * MS)
        };
        vec![hasty; 3]
    },
    || {
        let dropped = |poll| Op {
            cancel: Some(poll),
            ..op(true, 2 * MS)
        };
        vec![dropped(2), dropped(4), op(true, 2 * MS)]
    },
    || {
        let tried = Op {
            patience: Patience::Try,
            ..op(true, 2 * MS)
        };
        vec![tried.clone(), op(false, 2 * MS), tried]
    },
];

/// How many cases there are.
pub(super) fn cases() -> u64 {
    let lives = LIVES.len().pow(3);
    (2 * lives * BEGINS.len() * 2 * REQUESTS * COPIES.len()) as u64
}

/// The plan of a case.
pub(super) fn plan_of(case: u64) -> Plan {
    let mut choices = Choices::of(case);
    let apart = choices.next(2) == 0;
    let mut tasks = [(); 3].map(|()| LIVES[choices.next(LIVES.len())]());
    tasks[1][0].rest = 2 * MS / 5;
    tasks[2][0].rest = BEGINS[choices.next(BEGINS.len())];
    let last = if apart { 2 } else { 1 };
    let process = [0, last][choices.next(2)];
    let after = u32::try_from(choices.next(REQUESTS)).unwrap_or(0);
    let (delay, breaks) = COPIES[choices.next(COPIES.len())];
    let copy = Fault::HoldBack {
        process,
        node: 0,
        after,
        delay,
        breaks,
    };
    let mut plan = plan(&tasks, apart, Some((CONNECTED, copy)));
    if breaks == Breaks::Not {
        for process in &mut plan.processes {
            process.retry_for = process.response_timeout;
        }
    }
    plan
}
