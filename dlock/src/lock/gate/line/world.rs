//! Three tasks, a line, and the holds between them; and what an event does to them, carried out as the gates do it.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use super::{Admitted, AsHold, Left, Line, Usage, Way};
use crate::clock::BootInstant;
use crate::hold::Terms;
use crate::kind;
use crate::kind::LockMode;
use crate::lease::Millis;

const TASKS: usize = 3;

pub(super) fn terms(mode: LockMode, max_hold: Option<Duration>) -> Terms {
    Terms {
        kind: kind::LockKind::Rw,
        min_hold: None,
        mode,
        lease: Duration::from_secs(30),
        max_hold,
        linger: None,
    }
}

/// To write, to read together, and to read each on a hold of its own.
fn all_terms(linger: Option<Millis>) -> [Terms; 3] {
    let own = Some(Duration::from_secs(60));
    [
        (LockMode::Write, None),
        (LockMode::Read, None),
        (LockMode::Read, own),
    ]
    .map(|(m, own)| Terms {
        linger,
        ..terms(m, own)
    })
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

/// An index into [`World::terms`].
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
    /// What lingers at the end of the client is not given back.
    ForgetsLingering,
}

#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) line: Line<TestHold, usize>,
    pub(super) tasks: [Task; TASKS],
    /// The place numbers of the waiting tasks, which is their order.
    places: [u64; TASKS],
    next_place: u64,
    /// Holds that have not gone back.
    pub(super) holds: BTreeMap<usize, TestHold>,
    /// Holds of which the server knows no more.
    pub(super) gone: HashSet<usize>,
    next_hold: usize,
    /// Holds that others want.
    pub(super) wanted: HashSet<usize>,
    pub(super) closed: bool,
    pub(super) terms: [Terms; 3],
    mistake: Mistake,
}

impl World {
    pub(super) fn new(mistake: Mistake, linger: Option<Millis>) -> Self {
        Self {
            line: Line::default(),
            tasks: [Task::Idle; TASKS],
            places: [0; TASKS],
            next_place: 0,
            holds: BTreeMap::new(),
            gone: HashSet::new(),
            next_hold: 0,
            wanted: HashSet::new(),
            closed: false,
            terms: all_terms(linger),
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

/// Something that can happen to the tasks and their holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Enter(usize, Kind, bool, bool),
    Cancel(usize),
    Leave(usize, bool),
    /// With whether others were in line before.
    Granted(usize, bool),
    Wanted(usize),
    Lingered(usize),
    SliceGranted(usize),
    Declined(usize),
    GivesUp(usize),
    Refused(usize),
    Lost(usize),
    Weakens(usize),
    Close,
}

fn clock(open: bool) -> BootInstant {
    BootInstant::from_nanos(if open { 0 } else { 1_000_000_000 })
}

impl World {
    pub(super) fn happen(&mut self, event: Event) {
        match event {
            Event::Enter(at, kind, waits, open) => self.enter(at, kind, waits, open),
            Event::Cancel(at) => {
                self.tasks[at] = Task::Idle;
                if self.mistake != Mistake::ForgetsCancel {
                    self.line.cancel(self.places[at]);
                }
            }
            Event::Leave(at, open) => {
                let Task::Holds(id) = self.tasks[at] else {
                    unreachable!()
                };
                self.tasks[at] = Task::Idle;
                self.leave(id, open);
                if self.mistake == Mistake::LeavesTwice {
                    self.leave(id, open);
                }
            }
            Event::Granted(at, queued) => {
                let Task::Leads(kind, None) = self.tasks[at] else {
                    unreachable!()
                };
                let hold = TestHold {
                    id: self.next_hold,
                    terms: self.terms[kind],
                    healthy: true,
                };
                self.next_hold += 1;
                self.tasks[at] = Task::Holds(hold.id);
                self.holds.insert(hold.id, hold.clone());
                if queued {
                    self.wanted.insert(hold.id);
                }
                let admitted = self.line.hold_granted(hold.clone(), queued, clock(true));
                self.admit(hold.id, admitted);
            }
            Event::SliceGranted(at) => {
                let Task::Leads(_, Some(id)) = self.tasks[at] else {
                    unreachable!()
                };
                self.tasks[at] = Task::Holds(id);
                self.wanted.remove(&id);
                let hold = self.holds[&id].clone();
                let admitted = self.line.slice_granted(&hold, clock(true));
                self.admit(id, admitted);
            }
            Event::Declined(at) => {
                let Task::Leads(kind, Some(id)) = self.tasks[at] else {
                    unreachable!()
                };
                self.tasks[at] = Task::Leads(kind, None);
                if self.mistake != Mistake::ForgetsShare {
                    self.leave(id, false);
                }
            }
            Event::GivesUp(at) => {
                self.tasks[at] = Task::Idle;
                if self.mistake != Mistake::ForgetsEnd {
                    let leader = self.line.gave_up();
                    self.lead(leader);
                }
            }
            Event::Refused(at) => {
                self.tasks[at] = Task::Idle;
                let told = self.line.refused();
                self.fail(told);
            }
            Event::Close => {
                self.closed = true;
                let told = self.line.close();
                self.fail(told);
                if self.mistake != Mistake::ForgetsLingering
                    && let Some(hold) = self.line.drop_lingering()
                {
                    self.holds.remove(&hold.id);
                }
            }
            event => self.happen_to_hold(event),
        }
    }

    fn happen_to_hold(&mut self, event: Event) {
        match event {
            Event::Lost(id) => {
                self.gone.insert(id);
                let hold = self.holds[&id].clone();
                let leader = self.line.lost(&hold);
                self.lead(leader);
                if self.shares(id) == 0 {
                    self.holds.remove(&id);
                }
            }
            Event::Wanted(id) => {
                self.wanted.insert(id);
                let hold = self.holds[&id].clone();
                let wanted = self.line.wanted(&hold);
                if let Some(hold) = wanted.and_then(|wanted| wanted.idle) {
                    self.leave(hold.id, true);
                }
            }
            Event::Lingered(id) => {
                let hold = self.holds[&id].clone();
                let later = BootInstant::from_nanos(u64::MAX / 2);
                if let Some(Usage::Over(hold)) = self.line.usage(&hold, later) {
                    self.leave(hold.id, true);
                }
            }
            Event::Weakens(id) => {
                let known = self
                    .line
                    .current
                    .iter_mut()
                    .map(|current| &mut current.hold);
                let known = known.chain(self.line.former.iter_mut().map(|(hold, _)| hold));
                for hold in known
                    .chain(self.holds.values_mut())
                    .filter(|hold| hold.id == id)
                {
                    hold.healthy = false;
                }
            }
            _ => unreachable!("an event of a task"),
        }
    }

    fn enter(&mut self, at: usize, kind: Kind, may_wait: bool, open: bool) {
        let wanted = self.terms[kind];
        let others_wait = self.first_waiting().is_some();
        match self.line.enter(wanted, may_wait, || clock(open)) {
            Way::Join(hold) => {
                assert!(!others_wait, "overtaken");
                assert!(
                    hold.healthy && wanted.shareable() && hold.terms == wanted,
                    "cannot share"
                );
                self.tasks[at] = Task::Holds(hold.id);
            }
            Way::TakeOver(hold) => {
                assert!(!others_wait, "overtaken");
                assert!(hold.healthy && hold.terms == wanted, "cannot use it");
                assert!(self.shares(hold.id) == 0, "used by another task");
                assert!(!self.wanted.contains(&hold.id), "others want it");
                self.tasks[at] = Task::Holds(hold.id);
            }
            Way::Lead(hold) => {
                assert!(!others_wait, "overtaken");
                self.tasks[at] = Task::Leads(kind, hold.map(|hold| hold.id));
            }
            Way::Wait => {
                assert!(may_wait, "waits against its will");
                self.places[at] = self.next_place;
                self.next_place += 1;
                self.line.place(self.places[at], wanted, at);
                self.tasks[at] = Task::Waits(kind);
            }
            Way::Busy | Way::Alone => assert!(!may_wait, "turned away"),
        }
    }

    fn leave(&mut self, id: usize, open: bool) {
        let Some(hold) = self.holds.get(&id).cloned() else {
            panic!("left what went back")
        };
        let first = self.first_waiting();
        let goes_on = open || hold.terms.linger.is_some() && !self.wanted.contains(&id);
        match self.line.left(&hold, !self.closed, || clock(open)) {
            Left::Stays => {}
            Left::Lingers => {
                assert!(hold.healthy && hold.terms.linger.is_some(), "cannot linger");
                assert!(first.is_none() && !self.closed, "lingers for no task");
                assert!(!self.wanted.contains(&id), "others want it");
            }
            Left::PassedOn(to, _) => {
                assert!(
                    hold.healthy && Some(to) == first && goes_on,
                    "passed on wrongly"
                );
                self.tasks[to] = Task::Holds(self.told(to, &hold));
            }
            Left::SliceOver(to, _) => {
                assert!(
                    hold.healthy && Some(to) == first && !goes_on,
                    "passed on wrongly"
                );
                let Task::Waits(kind) = self.tasks[to] else {
                    panic!("told one who does not wait")
                };
                self.tasks[to] = Task::Leads(kind, Some(self.told(to, &hold)));
            }
            Left::GoesBack(leader) => {
                assert!(self.holds.remove(&id).is_some(), "gone back twice");
                self.lead(leader);
            }
        }
    }

    /// A waiting task gets this hold.
    fn told(&self, to: usize, hold: &TestHold) -> usize {
        let Task::Waits(kind) = self.tasks[to] else {
            panic!("told one who does not wait")
        };
        assert_eq!(self.terms[kind], hold.terms, "another hold than wanted");
        hold.id
    }

    fn admit(&mut self, id: usize, admitted: Admitted<usize>) {
        let hold = self.holds[&id].clone();
        for reader in admitted.readers {
            assert!(hold.terms.shareable(), "cannot share");
            self.tasks[reader] = Task::Holds(self.told(reader, &hold));
        }
        let left_out = |task: &Task| matches!(task, Task::Waits(kind) if hold.terms.shareable() && self.terms[*kind] == hold.terms);
        assert!(!self.tasks.iter().any(left_out), "a reader left out");
        self.lead(admitted.leader);
    }

    fn lead(&mut self, leader: Option<usize>) {
        if self.mistake == Mistake::ForgetsLeader {
            return;
        }
        if let Some(leader) = leader {
            assert_eq!(Some(leader), self.first_waiting(), "out of order");
            let Task::Waits(kind) = self.tasks[leader] else {
                panic!("told one who does not wait")
            };
            self.tasks[leader] = Task::Leads(kind, None);
        }
    }

    fn fail(&mut self, told: Vec<usize>) {
        for task in told {
            assert!(
                matches!(self.tasks[task], Task::Waits(_)),
                "told one who does not wait"
            );
            self.tasks[task] = Task::Idle;
        }
        assert_eq!(self.first_waiting(), None, "forgotten");
    }
}
