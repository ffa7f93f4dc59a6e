//! Slots that move, and those that stay after all: what operators' tools do, who wait for servers that do not answer.

use std::rc::Rc;

use super::begin::AtWork;
use super::servers::{excuse, excuse_clocks, excuse_until, home};
use crate::clients::Sim;
use crate::engine::{Engine, MS, Nanos, SECOND};
use crate::judges::{Scope, slot_of};
use crate::plan::Outcome;
use crate::server::{Migration, NodeId, Role};

/// What passes between the steps of a migration.
type Pauses = [Nanos; 4];

/// The slot of a lock, the master that has it, and another to which it may move now.
pub(super) fn course(sim: &Sim, lock: usize, to: usize) -> Option<(u16, NodeId, NodeId)> {
    let lock = lock % Sim::locks(&sim.plan);
    let (from, _) = home(sim, lock);
    let slot = slot_of(lock);
    let masters: Vec<NodeId> = sim.engine.fleet(|fleet| {
        let other = |node: &NodeId| {
            let serves = fleet.role(*node) == Role::Master && !fleet.is_deposed(*node);
            *node != from && fleet.is_alive(*node) && serves
        };
        fleet.nodes().filter(other).collect()
    });
    let moves = sim.moving.borrow().iter().any(|moving| moving.slot == slot);
    if masters.is_empty() || moves || sim.rests.borrow().contains(&slot) {
        return None;
    }
    Some((slot, from, masters[to % masters.len()]))
}

/// The steps of a migration, or of one that is called off.
pub(super) fn migrate(at_work: AtWork, lock: usize, to: usize, pauses: Pauses, outcome: Outcome) {
    let sim = Rc::clone(at_work.sim());
    let Some((slot, _, to)) = course(&sim, lock, to) else {
        return;
    };
    let begun = sim
        .engine
        .with_fleet(|fleet, now| fleet.migrate_begin(now, slot, to));
    let Some(migration) = begun else { return };
    sim.moving.borrow_mut().push(migration);
    step(at_work, migration, pauses[0], move |engine, at_work| {
        carries(&at_work, migration);
        engine.with_fleet(|fleet, now| fleet.migrate_keys(now, &migration, usize::MAX));
        step(
            at_work,
            migration,
            pauses[1],
            move |engine, at_work| match outcome {
                Outcome::Moves { told } => finish(at_work, migration, pauses[2], told),
                Outcome::Stays { source_first } => {
                    take_back(engine, at_work, migration, pauses, source_first);
                }
            },
        );
    });
}

/// Does a step when its time has come and both servers answer. If one of them is no master any more, or only takes itself
/// for one, the migration is over: on most versions its successor knows nothing of it.
fn step(
    at_work: AtWork,
    migration: Migration,
    after: Nanos,
    act: impl FnOnce(&Engine, AtWork) + 'static,
) {
    at_work.then(after, move |engine, at_work| {
        let both = [migration.from, migration.to];
        let up =
            |node: NodeId| engine.fleet(|fleet| fleet.is_alive(node) && !fleet.is_asleep(node));
        let serves = |node: NodeId| {
            engine.fleet(|fleet| fleet.role(node) == Role::Master && !fleet.is_deposed(node))
        };
        let theirs = engine.fleet(|fleet| both.contains(&fleet.owner(migration.slot)));
        if !both.into_iter().all(up) {
            step(at_work, migration, 50 * MS, act);
        } else if theirs && both.into_iter().all(serves) {
            act(engine, at_work);
        } else {
            engine.with_fleet(|fleet, now| fleet.migrate_abandon(now, &migration));
            moved(&at_work, migration);
        }
    });
}

/// Once all keys have gone, and the new owner has heard of the latest epoch: if two took the same, the slot might go
/// back without its keys.
fn finish(at_work: AtWork, migration: Migration, pause: Nanos, told: bool) {
    carries(&at_work, migration);
    let done = at_work.sim().engine.with_fleet(|fleet, now| {
        let ready = fleet.migrate_keys(now, &migration, usize::MAX) == 0
            && fleet.has_heard_of_the_latest_epoch(migration.to);
        if ready {
            fleet.migrate_finish(now, &migration);
        }
        ready
    });
    if !done {
        step(at_work, migration, 50 * MS, move |_, at_work| {
            finish(at_work, migration, pause, told);
        });
        return;
    }
    // Otherwise the bus is first, as a rule; an operator tells in any case.
    let later = if told { 0 } else { 2 * SECOND };
    step(at_work, migration, pause + later, move |engine, at_work| {
        engine.with_fleet(|fleet, now| {
            if fleet.owner(migration.slot) == migration.to {
                fleet.migrate_tell(now, &migration);
            } else {
                // It has been taken from there since. Told of it, its old master would leave it to no node.
                fleet.migrate_call_off(now, &migration);
            }
        });
        at_work.then(100 * MS, move |_, at_work| {
            check(at_work, migration, CHECKS);
        });
    });
}

/// How often an operator looks whether the slot has stayed where it went.
const CHECKS: u32 = 10;

/// Two that took one epoch may each leave the slot to the other: then it is given to the one once more.
fn check(at_work: AtWork, migration: Migration, more: u32) {
    let served = at_work.sim().engine.with_fleet(|fleet, now| {
        let served = fleet.is_served(migration.slot);
        if !served && fleet.is_alive(migration.to) && !fleet.is_asleep(migration.to) {
            fleet.migrate_again(now, &migration);
        }
        served
    });
    match more.checked_sub(1) {
        None if served => moved(&at_work, migration),
        more => at_work.then(100 * MS, move |_, at_work| {
            check(at_work, migration, more.unwrap_or(0));
        }),
    }
}

/// In the order that operators are asked to keep, the importing node first, or the other way round: then a client that was sent
/// to the importing node before may be served there.
fn take_back(
    engine: &Engine,
    at_work: AtWork,
    migration: Migration,
    pauses: Pauses,
    source_first: bool,
) {
    if !source_first {
        engine.with_fleet(|fleet, now| fleet.migrate_forget(now, &migration));
    }
    bring_back(at_work, migration, pauses[2], pauses[3], source_first);
}

fn bring_back(
    at_work: AtWork,
    migration: Migration,
    after: Nanos,
    then: Nanos,
    source_first: bool,
) {
    step(at_work, migration, after, move |engine, at_work| {
        carries(&at_work, migration);
        let left = engine.with_fleet(|fleet, now| {
            let left = fleet.migrate_back(now, &migration, usize::MAX);
            if left == 0 {
                fleet.migrate_call_off(now, &migration);
            }
            left
        });
        // What was sent on to the target may arrive when the key has gone back.
        let next = if left > 0 { 50 * MS } else { then };
        if source_first {
            excuse_source_first(at_work.sim(), migration.slot, next);
        }
        if left > 0 {
            bring_back(at_work, migration, next, then, source_first);
            return;
        }
        step(at_work, migration, then, move |engine, at_work| {
            if source_first {
                excuse_source_first(at_work.sim(), migration.slot, 0);
            }
            engine.with_fleet(|fleet, now| fleet.migrate_forget(now, &migration));
            moved(&at_work, migration);
        });
    });
}

/// From the first key that goes back to the target's end, so much later, two servers serve it.
fn excuse_source_first(sim: &Sim, slot: u16, lasts: Nanos) {
    for lock in locks_in(sim, slot) {
        let what = "a slot closed where it came from first";
        let until = sim.engine.now() + lasts;
        excuse_until(sim, until, what, Scope::Lock(lock), None, false);
    }
}

fn locks_in(sim: &Sim, slot: u16) -> Vec<usize> {
    let locks = 0..Sim::locks(&sim.plan);
    locks.filter(|lock| slot_of(*lock) == slot).collect()
}

/// Keys go from one to the other, either way.
pub(super) fn carries(at_work: &AtWork, migration: Migration) {
    let sim = at_work.sim();
    let locks = locks_in(sim, migration.slot);
    excuse_clocks(sim, locks, migration.from, migration.to);
}

/// It may move again when no answer can be on its way any more that sends a client where it went: during the next migration
/// that would be followed.
pub(super) fn moved(at_work: &AtWork, migration: Migration) {
    let timeouts = at_work.sim().plan.processes.iter();
    let rest = timeouts.map(|process| process.response_timeout).max();
    let sim = Rc::clone(at_work.sim());
    sim.moving.borrow_mut().retain(|other| *other != migration);
    sim.rests.borrow_mut().push(migration.slot);
    let rested = Rc::clone(&sim);
    let over = sim.engine.now() + rest.unwrap_or(0);
    sim.engine.at(
        over,
        Box::new(move |_| {
            let mut rests = rested.rests.borrow_mut();
            if let Some(at) = rests.iter().position(|slot| *slot == migration.slot) {
                rests.swap_remove(at);
            }
        }),
    );
}

/// A master is replaced: of slots that it was giving or taking its successor knows nothing, and keys are lost.
pub(super) fn is_replaced(sim: &Sim, master: NodeId) {
    let moving = sim.moving.borrow().clone();
    for migration in moving {
        if migration.from == master || migration.to == master {
            let what = "a failover during a migration";
            excuse(sim, what, Scope::Node(migration.from), Some(master), false);
            excuse(sim, what, Scope::Node(migration.to), Some(master), false);
        }
    }
}
