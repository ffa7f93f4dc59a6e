//! Three tasks, a line, and the holds between them.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use super::super::{AsHold, Line};
use crate::clock::BootInstant;
use crate::hold::Terms;
use crate::kind;
use crate::mode::LockMode;

pub(super) const TASKS: usize = 3;

pub(super) fn terms(mode: LockMode, max_hold: Option<Duration>) -> Terms {
    Terms {
        kind: kind::LockKind::Rw,
        min_hold: None,
        mode,
        lease: Duration::from_secs(30),
        max_hold,
    }
}

/// To write, to read together, and to read each on a hold of its own.
pub(super) fn all_terms() -> [Terms; 3] {
    let own = Some(Duration::from_secs(60));
    [
        (LockMode::Write, None),
        (LockMode::Read, None),
        (LockMode::Read, own),
    ]
    .map(|(m, own)| terms(m, own))
}

#[derive(Clone, Debug)]
pub(super) struct TestHold {
    pub(super) id: usize,
    pub(super) terms: Terms,
    pub(super) healthy: bool,
}

impl AsHold for TestHold {
    fn is(&self, other: &Self) -> bool {
        self.id == other.id
    }

    fn terms(&self) -> Terms {
        self.terms
    }

    fn is_healthy(&self, _: BootInstant) -> bool {
        self.healthy
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Task {
    Idle,
    Waits(Kind),
    /// Has a reference to a hold whose slice is over, or none.
    Leads(Kind, Option<usize>),
    Holds(usize),
}

/// An index into [`all_terms`].
pub(super) type Kind = usize;

/// A mistake of the gate's shell, to see that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    None,
    /// The next leading task is not notified.
    ForgetsLeader,
    /// A task that went away stays in the line.
    ForgetsCancel,
    /// A leading reader does not report that it has left its share.
    ForgetsShare,
    /// A share is left twice.
    LeavesTwice,
    /// The end of a lead is not reported.
    ForgetsEnd,
}

#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) line: Line<TestHold, usize>,
    pub(super) tasks: [Task; TASKS],
    /// The place numbers of the waiting tasks, which is their order.
    pub(super) places: [u64; TASKS],
    pub(super) next_place: u64,
    /// Holds that have not gone back.
    pub(super) holds: BTreeMap<usize, TestHold>,
    /// Holds of which the server knows no more.
    pub(super) gone: HashSet<usize>,
    pub(super) next_hold: usize,
    pub(super) closed: bool,
    pub(super) mistake: Mistake,
}

impl World {
    pub(super) fn new(mistake: Mistake) -> Self {
        Self {
            line: Line::default(),
            tasks: [Task::Idle; TASKS],
            places: [0; TASKS],
            next_place: 0,
            holds: BTreeMap::new(),
            gone: HashSet::new(),
            next_hold: 0,
            closed: false,
            mistake,
        }
    }

    pub(super) fn first_waiting(&self) -> Option<usize> {
        let waiting = |task: &usize| matches!(self.tasks[*task], Task::Waits(_));
        (0..TASKS)
            .filter(waiting)
            .min_by_key(|task| self.places[*task])
    }

    pub(super) fn shares(&self, id: usize) -> usize {
        let on =
            |task: &&Task| matches!(task, Task::Holds(on) | Task::Leads(_, Some(on)) if *on == id);
        self.tasks.iter().filter(on).count()
    }
}
