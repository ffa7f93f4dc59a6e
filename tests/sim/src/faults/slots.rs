//! Slots that move, and those that stay after all.

use std::rc::Rc;

use super::begin::AtWork;
use super::servers::home;
use crate::clients::Sim;
use crate::engine::{Engine, MS, Nanos, SECOND};
use crate::judges::slot_of;
use crate::server::{Migration, NodeId, Role};

/// The steps of a migration, or of one that is called off.
pub(super) fn migrate(
    at_work: AtWork,
    lock: usize,
    to: usize,
    steps: [Nanos; 4],
    call_off: bool,
    tell: bool,
) {
    let sim = Rc::clone(at_work.sim());
    let (from, _) = home(&sim, lock % Sim::locks(&sim.plan));
    let slot = slot_of(lock % Sim::locks(&sim.plan));
    let masters: Vec<NodeId> = sim.engine.fleet(|fleet| {
        let other = |node: &NodeId| {
            *node != from && fleet.is_alive(*node) && fleet.role(*node) == Role::Master
        };
        fleet.nodes().filter(other).collect()
    });
    if masters.is_empty() {
        return;
    }
    let to = masters[to % masters.len()];
    if sim.moving.borrow().contains(&slot) {
        return;
    }
    let begun = sim
        .engine
        .with_fleet(|fleet, now| fleet.migrate_begin(now, slot, to));
    let Some(migration) = begun else { return };
    sim.moving.borrow_mut().push(slot);
    at_work.then(steps[0], move |engine, at_work| {
        move_keys(engine, &migration);
        at_work.then(steps[1], move |engine, at_work| {
            if call_off {
                take_back(engine, at_work, migration, steps);
                return;
            }
            engine.with_fleet(|fleet, now| fleet.migrate_finish(now, &migration));
            // Otherwise the bus is first, as a rule; an operator tells in any case.
            let told = if tell { steps[2] } else { steps[2] + 2 * SECOND };
            at_work.then(told, move |engine, at_work| {
                engine.with_fleet(|fleet, now| fleet.migrate_tell(now, &migration));
                at_work.then(100 * MS, move |_, at_work| moved(&at_work, slot));
            });
        });
    });
}

fn move_keys(engine: &Engine, migration: &Migration) {
    engine.with_fleet(|fleet, now| fleet.migrate_keys(now, migration, usize::MAX));
}

/// In the order that operators are asked to keep: the importing node first.
fn take_back(engine: &Engine, at_work: AtWork, migration: Migration, steps: [Nanos; 4]) {
    engine.with_fleet(|fleet, now| fleet.migrate_forget(now, &migration));
    at_work.then(steps[2], move |engine, at_work| {
        engine.with_fleet(|fleet, now| {
            fleet.migrate_back(now, &migration, usize::MAX);
            fleet.migrate_call_off(now, &migration);
        });
        at_work.then(steps[3], move |_, at_work| moved(&at_work, migration.slot));
    });
}

fn moved(at_work: &AtWork, slot: u16) {
    at_work.sim().moving.borrow_mut().retain(|moving| *moving != slot);
}
