//! Servers that die or sleep, and replicas that take over.

use std::rc::Rc;

use super::begin::AtWork;
use super::servers::{clocks_differ, excuse, wake};
use super::slots::is_replaced;
use crate::clients::Sim;
use crate::engine::Nanos;
use crate::judges::Scope;
use crate::server::{FailKind, NodeId, Promotion, Role};

pub(super) fn restart(at_work: AtWork, node: NodeId, with_data: bool, after: Nanos) {
    loses_all(at_work.sim(), node, with_data);
    let engine = Rc::clone(&at_work.sim().engine);
    engine.with_fleet(|fleet, _| fleet.kill(node));
    at_work.then(after, move |engine, at_work| {
        // Another restart may have come between.
        loses_all(at_work.sim(), node, with_data);
        engine.with_fleet(|fleet, now| fleet.restart(now, node, with_data));
    });
}

fn loses_all(sim: &Sim, node: NodeId, with_data: bool) {
    let master = sim.engine.fleet(|fleet| fleet.role(node) == Role::Master);
    if !with_data && master {
        let what = "restart without data";
        excuse(sim, what, Scope::Node(node), None, false);
    }
}

/// A master that has a replica, and the replica.
pub(super) fn pair(sim: &Sim, number: usize) -> Option<(NodeId, NodeId)> {
    sim.engine.fleet(|fleet| {
        let pairs: Vec<(NodeId, NodeId)> = fleet
            .nodes()
            .filter(|node| fleet.is_alive(*node) && !fleet.is_asleep(*node))
            .filter_map(|node| match fleet.role(node) {
                Role::ReplicaOf(master) => Some((master, node)),
                Role::Master => None,
            })
            .collect();
        (!pairs.is_empty()).then(|| pairs[number % pairs.len()])
    })
}

pub(super) fn fail_over(
    at_work: AtWork,
    number: usize,
    dies: bool,
    takes: Nanos,
    wakes: Nanos,
    clients_first: bool,
) {
    let sim = Rc::clone(at_work.sim());
    let Some((master, replica)) = pair(&sim, number) else {
        return;
    };
    sim.engine.with_fleet(|fleet, _| {
        if dies {
            fleet.kill(master);
        } else {
            fleet.sleep(master);
        }
    });
    at_work.then(takes, move |engine, at_work| {
        let sim = at_work.sim();
        is_replaced(sim, master);
        let what = "failover that lost writes";
        // What the old one grants in vain has tokens of its own clock.
        let tokens = clocks_differ(sim, master, replica);
        excuse(sim, what, Scope::Node(master), Some(master), tokens);
        engine.with_fleet(|fleet, now| fleet.promote(now, replica, Promotion::Automatic));
        at_work.then(wakes, move |engine, at_work| {
            if dies {
                engine.with_fleet(|fleet, now| fleet.restart(now, master, true));
            } else {
                wake(at_work.sim(), master, clients_first);
            }
        });
    });
}

pub(super) fn fail_script(
    at_work: AtWork,
    node: NodeId,
    at_call: usize,
    dies: Option<(bool, bool)>,
    after: Nanos,
) {
    let sim = Rc::clone(at_work.sim());
    if !sim.engine.fleet(|fleet| fleet.is_alive(node)) {
        return;
    }
    let how = match dies {
        None => FailKind::Error("MISCONF Redis is configured to save RDB snapshots".into()),
        Some((kept, heard)) => FailKind::Dies { kept, heard },
    };
    if let Some((kept, _)) = dies {
        let what = "a server that died in a script";
        excuse(&sim, what, Scope::Node(node), None, false);
        if kept {
            sim.judges.cut_short(node);
        }
    }
    sim.engine
        .with_fleet(|fleet, _| fleet.fail_script_at_call(node, at_call, how));
    at_work.then(after, move |engine, at_work| {
        let pending = engine.with_fleet(|fleet, _| fleet.clear_script_failure(node));
        if !pending && dies.is_some() {
            excuse(
                at_work.sim(),
                "a server that died in a script",
                Scope::Node(node),
                None,
                false,
            );
            engine.with_fleet(|fleet, now| {
                if !fleet.is_alive(node) {
                    fleet.restart(now, node, true);
                }
            });
        }
    });
}
