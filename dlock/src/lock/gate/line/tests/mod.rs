//! All that three tasks can do to a line, in every order: each state that can be reached is reached.

mod check;
mod events;
mod steps;
mod world;

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use self::world::{Mistake, TestHold, World, terms};
use super::Line;
use crate::clock::BootInstant;
use crate::mode::LockMode;

/// How many states there are.
fn explore(mistake: Mistake) -> usize {
    let mut todo = VecDeque::from([World::new(mistake)]);
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
    let states = explore(Mistake::None);
    assert!(states > 25_000, "only {states} states");
}

#[test]
fn mistakes_are_noticed() {
    for mistake in [
        Mistake::ForgetsLeader,
        Mistake::ForgetsCancel,
        Mistake::ForgetsShare,
        Mistake::LeavesTwice,
        Mistake::ForgetsEnd,
    ] {
        let noticed = std::panic::catch_unwind(|| explore(mistake));
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
        let admitted = line.hold_granted(hold, after(seconds));
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
