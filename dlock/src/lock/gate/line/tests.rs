//! All that three tasks can do to a line, in every order: each state that can be reached is reached, and checked.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::Line;
use super::world::{Event, Kind, Mistake, Task, TestHold, World, terms};
use crate::clock::BootInstant;
use crate::kind::LockMode;
use crate::lease::Millis;

/// How many states there are.
fn explore(mistake: Mistake, linger: Option<Millis>) -> usize {
    let mut todo = VecDeque::from([World::new(mistake, linger)]);
    let mut seen = HashSet::from([todo[0].essence()]);
    while let Some(world) = todo.pop_front() {
        for event in world.events() {
            let mut next = world.clone();
            next.happen(event);
            next.check();
            if seen.insert(next.essence()) {
                todo.push_back(next);
            }
        }
    }
    seen.len()
}

#[test]
fn nothing_that_three_tasks_can_do_leads_astray() {
    let states = explore(Mistake::None, None);
    assert!(states > 25_000, "only {states} states");
    let states = explore(Mistake::None, Millis::of(Duration::from_secs(1)));
    assert!(
        states > 25_000,
        "only {states} states with holds that linger"
    );
}

#[test]
fn mistakes_are_noticed() {
    for mistake in [
        Mistake::ForgetsLeader,
        Mistake::ForgetsCancel,
        Mistake::ForgetsShare,
        Mistake::LeavesTwice,
        Mistake::ForgetsEnd,
        Mistake::ForgetsLingering,
    ] {
        let linger = (mistake == Mistake::ForgetsLingering)
            .then(|| Millis::of(Duration::from_secs(1)))
            .flatten();
        let noticed = std::panic::catch_unwind(|| explore(mistake, linger));
        assert!(noticed.is_err(), "{mistake:?} goes unnoticed");
    }
}

#[test]
fn a_lock_counts_as_had_from_task_to_task_until_it_is_left_to_others() {
    let began = BootInstant::now();
    let after = |seconds| began + Duration::from_secs(seconds);
    let mut line: Line<TestHold, ()> = Line::default();
    let grant = |line: &mut Line<TestHold, ()>, id, seconds| {
        let terms = terms(LockMode::Write, None);
        let hold = TestHold {
            id,
            terms,
            healthy: true,
        };
        let admitted = line.hold_granted(hold, false, after(seconds));
        assert!(admitted.readers.is_empty() && admitted.leader.is_none());
    };
    assert_eq!(line.had_for(began), Duration::ZERO);
    grant(&mut line, 0, 0);
    grant(&mut line, 1, 4);
    assert_eq!(line.had_for(after(6)), Duration::from_secs(6));
    line.steps_aside();
    assert_eq!(line.had_for(after(6)), Duration::ZERO);
    grant(&mut line, 2, 7);
    assert_eq!(line.had_for(after(9)), Duration::from_secs(2));
}

impl World {
    /// Whether the server could grant this now.
    fn grantable(&self, kind: Kind) -> bool {
        let mode = self.terms[kind].mode;
        let others = self
            .holds
            .values()
            .filter(|hold| !self.gone.contains(&hold.id));
        others.fold(true, |free, hold| {
            free && mode == LockMode::Read && hold.terms.mode == mode
        })
    }

    /// All that can happen next.
    fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for (at, task) in self.tasks.iter().enumerate() {
            match *task {
                Task::Idle if self.closed => {}
                Task::Idle => {
                    // With the third kind there would be ten times as many states.
                    let kinds = if self.terms[0].linger.is_some() { 2 } else { 3 };
                    for kind in 0..kinds {
                        for (waits, open) in [(true, true), (true, false), (false, true)] {
                            events.push(Event::Enter(at, kind, waits, open));
                        }
                    }
                }
                Task::Waits(_) => events.push(Event::Cancel(at)),
                Task::Holds(_) => events.extend([Event::Leave(at, true), Event::Leave(at, false)]),
                Task::Leads(kind, Some(id)) => {
                    if self.holds[&id].terms == self.terms[kind] {
                        events.push(Event::SliceGranted(at));
                    }
                    events.push(Event::Declined(at));
                }
                Task::Leads(kind, None) => {
                    if self.grantable(kind) {
                        events.push(Event::Granted(at, false));
                        if self.terms[kind].linger.is_some() {
                            events.push(Event::Granted(at, true));
                        }
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
            if hold.terms.linger.is_some() {
                events.extend([Event::Wanted(hold.id), Event::Lingered(hold.id)]);
            }
        }
        if !self.closed {
            events.push(Event::Close);
        }
        events
    }

    /// Makes sure of what has to be true at any time.
    fn check(&self) {
        let leaders = self
            .tasks
            .iter()
            .filter(|task| matches!(task, Task::Leads(..)))
            .count();
        assert!(leaders <= 1, "two lead");
        let writing = self.line.is_written();
        assert!(leaders == 0 || !writing, "asks behind a writer of its own");
        let current = self.line.current.as_ref().map(|current| current.hold.id);
        let progress = current.is_some_and(|id| self.shares(id) > 0) || leaders == 1;
        assert!(
            self.first_waiting().is_none() || progress,
            "waits for nobody"
        );
        for hold in self.holds.values() {
            let shares = self.shares(hold.id);
            let lingers = self.line.lingers() && current == Some(hold.id);
            assert!(!(lingers && self.closed), "lingers after the end");
            assert!(
                shares > 0 || lingers,
                "a hold that nobody has, and that does not go back"
            );
            assert!(
                shares <= 1 || hold.terms.shareable(),
                "two hold what is for one"
            );
        }
        for task in &self.tasks {
            if let Task::Holds(id) | Task::Leads(_, Some(id)) = task {
                assert!(self.holds.contains_key(id), "stands on what went back");
            }
        }
        let works = self.tasks.iter().any(|task| *task != Task::Idle);
        let busy = works || self.line.lingers();
        assert_eq!(self.line.is_idle(), !busy, "idle or not");
    }

    /// What the future depends on: the tasks and the line, with holds and places by their order.
    fn essence(&self) -> String {
        let order = |id: usize| self.holds.keys().position(|known| *known == id);
        let tasks = self.tasks.map(|task| match task {
            Task::Leads(kind, hold) => (Task::Leads(kind, None), hold.map(order)),
            Task::Holds(id) => (Task::Holds(0), Some(order(id))),
            other => (other, None),
        });
        let holds: Vec<_> = (self.holds.values())
            .map(|hold| {
                let wanted = self.wanted.contains(&hold.id);
                let gone = self.gone.contains(&hold.id);
                (hold.terms, hold.healthy, gone, wanted)
            })
            .collect();
        let line = &self.line;
        let current = (line.current.as_ref()).map(|at| (order(at.hold.id), at.shares, at.wanted));
        let former = line
            .former
            .iter()
            .map(|(hold, shares)| (order(hold.id), *shares));
        let mut former: Vec<_> = former.collect();
        former.sort_unstable();
        let waiting: Vec<_> = (line.waiting.values())
            .map(|waiter| (waiter.terms, waiter.handle))
            .collect();
        let led = line.led;
        format!(
            "{tasks:?} {holds:?} {current:?} {former:?} {waiting:?} {led} {}",
            self.closed
        )
    }
}
