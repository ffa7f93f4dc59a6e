//! What can happen next.

use super::world::{Kind, Task, World, all_terms};
use crate::mode::LockMode;

#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Enter(usize, Kind, bool, bool),
    Cancel(usize),
    Leave(usize, bool),
    Granted(usize),
    SliceGranted(usize),
    Declined(usize),
    GivesUp(usize),
    Refused(usize),
    Lost(usize),
    Weakens(usize),
    Close,
}

impl World {
    /// Whether the server could grant this now.
    fn grantable(&self, kind: Kind) -> bool {
        let mode = all_terms()[kind].mode;
        let others = self
            .holds
            .values()
            .filter(|hold| !self.gone.contains(&hold.id));
        others.fold(true, |free, hold| {
            free && mode == LockMode::Read && hold.terms.mode == mode
        })
    }

    pub(super) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for (at, task) in self.tasks.iter().enumerate() {
            match *task {
                Task::Idle if self.closed => {}
                Task::Idle => {
                    for kind in 0..3 {
                        for (waits, open) in [(true, true), (true, false), (false, true)] {
                            events.push(Event::Enter(at, kind, waits, open));
                        }
                    }
                }
                Task::Waits(_) => events.push(Event::Cancel(at)),
                Task::Holds(_) => events.extend([Event::Leave(at, true), Event::Leave(at, false)]),
                Task::Leads(_, Some(_)) => {
                    events.extend([Event::SliceGranted(at), Event::Declined(at)]);
                }
                Task::Leads(kind, None) => {
                    if self.grantable(kind) {
                        events.push(Event::Granted(at));
                    }
                    events.extend([Event::GivesUp(at), Event::Refused(at)]);
                }
            }
        }
        for hold in self
            .holds
            .values()
            .filter(|hold| !self.gone.contains(&hold.id))
        {
            events.push(Event::Lost(hold.id));
            if hold.healthy {
                events.push(Event::Weakens(hold.id));
            }
        }
        if !self.closed {
            events.push(Event::Close);
        }
        events
    }
}
