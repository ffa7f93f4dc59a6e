//! What happens then, carried out as the gates do it.

use super::super::{Admitted, Left, Way};
use super::events::Event;
use super::world::{Kind, Mistake, Task, TestHold, World, all_terms};
use crate::clock::BootInstant;

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
            Event::Granted(at) => {
                let Task::Leads(kind, None) = self.tasks[at] else {
                    unreachable!()
                };
                let hold = TestHold {
                    id: self.next_hold,
                    terms: all_terms()[kind],
                    healthy: true,
                };
                self.next_hold += 1;
                self.tasks[at] = Task::Holds(hold.id);
                self.holds.insert(hold.id, hold.clone());
                let admitted = self.line.hold_granted(hold.clone(), clock(true));
                self.admit(hold.id, admitted);
            }
            Event::SliceGranted(at) => {
                let Task::Leads(_, Some(id)) = self.tasks[at] else {
                    unreachable!()
                };
                self.tasks[at] = Task::Holds(id);
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
            Event::Lost(id) => {
                self.gone.insert(id);
                let hold = self.holds[&id].clone();
                let leader = self.line.lost(&hold);
                self.lead(leader);
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
            Event::Close => {
                self.closed = true;
                let told = self.line.close();
                self.fail(told);
            }
        }
    }

    fn enter(&mut self, at: usize, kind: Kind, may_wait: bool, open: bool) {
        let wanted = all_terms()[kind];
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
        match self.line.left(&hold, || clock(open)) {
            Left::Stays => {}
            Left::PassedOn(to, _) => {
                assert!(
                    hold.healthy && Some(to) == first && open,
                    "passed on wrongly"
                );
                self.tasks[to] = Task::Holds(self.told(to, &hold));
            }
            Left::SliceOver(to, _) => {
                assert!(
                    hold.healthy && Some(to) == first && !open,
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
        assert_eq!(all_terms()[kind], hold.terms, "another hold than wanted");
        hold.id
    }

    fn admit(&mut self, id: usize, admitted: Admitted<usize>) {
        let hold = self.holds[&id].clone();
        for reader in admitted.readers {
            assert!(hold.terms.shareable(), "cannot share");
            self.tasks[reader] = Task::Holds(self.told(reader, &hold));
        }
        let left_out = |task: &Task| matches!(task, Task::Waits(kind) if hold.terms.shareable() && all_terms()[*kind] == hold.terms);
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
