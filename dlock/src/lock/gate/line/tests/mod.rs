//! All that three tasks can do to a line, in every order: each state that can be reached is reached.

mod check;
mod events;
mod steps;
mod world;

use std::collections::{HashSet, VecDeque};

use self::world::{Mistake, World};

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
