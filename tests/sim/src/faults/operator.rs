//! The operator of a quorum: something is wrong with a minority of its servers at a time, and one that comes back without its
//! data stays away until all leases are over that it may have known of ("delayed restart").

use std::rc::Rc;

use super::begin::AtWork;
use super::servers::wake;
use crate::clients::Sim;
use crate::engine::{MS, Nanos, Random, SECOND};
use crate::plan::Fault;
use crate::server::{FailKind, NodeId};
use crate::weights;

/// The longest `min_hold`.
const MIN_HOLD: Nanos = 400 * MS;

/// Whether a server may get into trouble now. Sometimes one too many may that keeps what it knows: then no client gets a lock.
fn may_be_troubled(sim: &Sim, node: NodeId, keeps: bool) -> bool {
    let members = sim.plan.setup.members;
    let troubled = sim.troubled.borrow();
    if members == 0 {
        return true;
    }
    if troubled.contains(&node) {
        return false;
    }
    let minority = (members - 1) / 2;
    let random = &mut Random::of(sim.plan.seed, "one too many", sim.engine.now());
    troubled.len() < minority
        || troubled.len() == minority && keeps && random.chance(weights::ONE_TOO_MANY)
}

/// It is, until it is well.
fn is_troubled(sim: &Sim, node: NodeId) {
    sim.troubled.borrow_mut().push(node);
}

fn is_well(sim: &Sim, node: NodeId) {
    sim.troubled.borrow_mut().retain(|other| *other != node);
}

/// A server dies and comes back, with its data or, much later, without.
fn restart(at_work: AtWork, node: NodeId, with_data: bool, after: Nanos) {
    let sim = at_work.sim();
    let lease = sim.plan.longest_lease().max(MIN_HOLD);
    let after = if with_data {
        after
    } else {
        after.max(lease + lease / 50 + SECOND / 10)
    };
    sim.engine.with_fleet(|fleet, _| fleet.kill(node));
    at_work.then(after, move |engine, at_work| {
        let sim = at_work.sim();
        engine.with_fleet(|fleet, now| fleet.restart(now, node, with_data));
        if !with_data {
            sim.judges.is_emptied(engine);
        }
        is_well(sim, node);
    });
}

/// Begins what is a fault of a server of a quorum; otherwise gives it back.
pub(super) fn begin(at_work: AtWork, fault: &Fault) -> Option<AtWork> {
    let sim = Rc::clone(at_work.sim());
    let (number, keeps) = match *fault {
        Fault::Restart {
            node, with_data, ..
        } => (node, with_data),
        Fault::Sleep { node, .. }
        | Fault::Full { node, .. }
        | Fault::Loading { node, .. }
        | Fault::FailScript { node, .. } => (node, true),
        _ => return Some(at_work),
    };
    if sim.plan.setup.members == 0 {
        return Some(at_work);
    }
    let node = NodeId(number % sim.plan.setup.members);
    if !may_be_troubled(&sim, node, keeps) {
        return None;
    }
    is_troubled(&sim, node);
    let engine = Rc::clone(&sim.engine);
    match *fault {
        Fault::Restart {
            with_data, after, ..
        } => restart(at_work, node, with_data, after),
        Fault::Sleep {
            clients_first,
            lasts,
            ..
        } => {
            engine.with_fleet(|fleet, _| fleet.sleep(node));
            at_work.then(lasts, move |_, at_work| {
                wake(at_work.sim(), node, clients_first);
                is_well(at_work.sim(), node);
            });
        }
        Fault::Full { lasts, .. } => {
            engine.with_fleet(|fleet, _| fleet.set_full(node, true));
            at_work.then(lasts, move |engine, at_work| {
                engine.with_fleet(|fleet, _| fleet.set_full(node, false));
                is_well(at_work.sim(), node);
            });
        }
        Fault::Loading { lasts, .. } => {
            engine.with_fleet(|fleet, _| fleet.set_loading(node, true));
            at_work.then(lasts, move |engine, at_work| {
                engine.with_fleet(|fleet, _| fleet.set_loading(node, false));
                is_well(at_work.sim(), node);
            });
        }
        Fault::FailScript { at_call, after, .. } => {
            let how = FailKind::Error("MISCONF Redis is configured to save RDB snapshots".into());
            engine.with_fleet(|fleet, _| fleet.fail_script_at_call(node, at_call, how));
            at_work.then(after, move |engine, at_work| {
                engine.with_fleet(|fleet, _| fleet.clear_script_failure(node));
                is_well(at_work.sim(), node);
            });
        }
        _ => {}
    }
    None
}
