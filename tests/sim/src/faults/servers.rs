//! Faults of servers, and what operators do.

use std::rc::Rc;

use super::at_once::move_at_once;
use super::begin::AtWork;
use super::deaths::{fail_over, fail_script, pair, restart};
use super::processes::node;
use super::slots::{is_replaced, migrate};
use crate::clients::Sim;
use crate::engine::{MS, Nanos, Random};
use crate::judges::{Excuse, Scope};
use crate::plan::Fault;
use crate::server::{NodeId, Promotion, WakeOrder};

/// Where clocks differ, a lock has the time of the one that was ahead: a loss of it loses that, too.
pub(super) fn excuse(
    sim: &Sim,
    what: &'static str,
    scope: Scope,
    deposed: Option<NodeId>,
    tokens: bool,
) {
    excuse_until(sim, sim.engine.now(), what, scope, deposed, tokens);
}

/// Requests until then may be lost.
pub(super) fn excuse_until(
    sim: &Sim,
    at: Nanos,
    what: &'static str,
    scope: Scope,
    deposed: Option<NodeId>,
    tokens: bool,
) {
    let excuse = Excuse {
        what,
        scope,
        at,
        deposed,
        tokens: tokens || any_clocks_differ(sim),
        set_back: 0,
    };
    let locks = Sim::locks(&sim.plan);
    sim.judges.excuse(&sim.engine, excuse, locks);
}

/// Whether the clocks of two servers differ by more than does no harm.
pub(super) fn clocks_differ(sim: &Sim, one: NodeId, other: NodeId) -> bool {
    let now = sim.engine.time();
    sim.engine.fleet(|fleet| {
        let times = [one, other].map(|node| fleet.server_micros(now, node));
        times[0].abs_diff(times[1]) > MOST_APART
    })
}

fn any_clocks_differ(sim: &Sim) -> bool {
    let nodes: Vec<NodeId> = sim.engine.fleet(|fleet| fleet.nodes().collect());
    nodes.iter().any(|node| clocks_differ(sim, nodes[0], *node))
}

/// Deadlines go with a lock to another server as absolute times: where clocks differ, leases do.
pub(super) fn excuse_clocks(sim: &Sim, locks: Vec<usize>, from: NodeId, to: NodeId) {
    if !clocks_differ(sim, from, to) {
        return;
    }
    for lock in locks {
        excuse(sim, "clocks that differ", Scope::Lock(lock), None, true);
    }
}

/// A clock steps: of what is free meanwhile tokens repeat, and deadlines move to other nodes as absolute times.
fn excuse_step(sim: &Sim, node: NodeId, micros: i64) {
    let excuse_of_this = Excuse {
        what: "clock step",
        scope: Scope::Node(node),
        at: sim.engine.now(),
        deposed: None,
        tokens: any_clocks_differ(sim),
        set_back: u64::try_from(-micros).unwrap_or(0) * 1_000,
    };
    let locks = Sim::locks(&sim.plan);
    sim.judges.excuse(&sim.engine, excuse_of_this, locks);
    let others: Vec<NodeId> = sim.engine.fleet(|fleet| fleet.nodes().collect());
    for other in others {
        excuse(sim, "clocks that differ", Scope::Node(other), None, true);
    }
}

/// By how much clocks may differ without harm (us).
const MOST_APART: u64 = 1000;

/// A server does at once what was sent to it while it slept.
pub(super) fn wake(sim: &Sim, node: NodeId, clients_first: bool) {
    let order = if clients_first {
        WakeOrder::ClientsFirst
    } else {
        WakeOrder::LinksFirst
    };
    sim.engine
        .with_fleet(|fleet, now| fleet.wake(now, node, order));
    sim.judges.look_at_all_lines(&sim.engine);
}

/// Begins a fault of servers.
pub(super) fn begin(at_work: AtWork, fault: &Fault) {
    let sim = Rc::clone(at_work.sim());
    let engine = Rc::clone(&sim.engine);
    match *fault {
        Fault::KillConnections {
            node: number,
            subscribers,
        } => {
            let node = node(&sim, number);
            engine.with_fleet(|fleet, _| fleet.client_kill_all(node, subscribers));
        }
        Fault::Forge { lock, times } => forge(at_work, lock, times),
        Fault::CutBus { from, to, lasts } => {
            let (from, to) = (node(&sim, from), node(&sim, to));
            engine.cut_bus(from, to, true);
            at_work.then(lasts, move |engine, _| engine.cut_bus(from, to, false));
        }
        Fault::Restart {
            node: number,
            with_data,
            after,
        } => restart(at_work, node(&sim, number), with_data, after),
        Fault::Sleep {
            node: number,
            clients_first,
            lasts,
        } => {
            let node = node(&sim, number);
            engine.with_fleet(|fleet, _| fleet.sleep(node));
            at_work.then(lasts, move |_, at_work| {
                wake(at_work.sim(), node, clients_first);
            });
        }
        Fault::Failover {
            node: number,
            dies,
            takes,
            wakes,
            clients_first,
        } => fail_over(at_work, number, dies, takes, wakes, clients_first),
        Fault::HandOver { node: number } => {
            if let Some((master, replica)) = pair(&sim, number) {
                is_replaced(&sim, master);
                let locks = (0..Sim::locks(&sim.plan)).filter(|lock| home(&sim, *lock).0 == master);
                excuse_clocks(&sim, locks.collect(), master, replica);
                engine.with_fleet(|fleet, now| {
                    fleet.promote(now, replica, Promotion::Coordinated);
                });
            }
        }
        Fault::FailScript {
            node: number,
            at_call,
            dies,
            after,
        } => fail_script(at_work, node(&sim, number), at_call, dies, after),
        Fault::ScriptFlush { node: number } => {
            let node = node(&sim, number);
            engine.with_fleet(|fleet, _| fleet.script_flush(node));
        }
        _ => begin_more(at_work, fault),
    }
}

fn begin_more(at_work: AtWork, fault: &Fault) {
    let sim = Rc::clone(at_work.sim());
    let engine = Rc::clone(&sim.engine);
    match *fault {
        Fault::Full {
            node: number,
            lasts,
        } => {
            let node = node(&sim, number);
            engine.with_fleet(|fleet, _| fleet.set_full(node, true));
            at_work.then(lasts, move |engine, _| {
                engine.with_fleet(|fleet, _| fleet.set_full(node, false));
            });
        }
        Fault::NoReplicas {
            node: number,
            lasts,
        } => {
            let node = node(&sim, number);
            engine.with_fleet(|fleet, _| fleet.set_min_replicas(node, 7));
            at_work.then(lasts, move |engine, _| {
                engine.with_fleet(|fleet, _| fleet.set_min_replicas(node, 0));
            });
        }
        Fault::Loading {
            node: number,
            lasts,
        } => {
            let node = node(&sim, number);
            engine.with_fleet(|fleet, _| fleet.set_loading(node, true));
            at_work.then(lasts, move |engine, _| {
                engine.with_fleet(|fleet, _| fleet.set_loading(node, false));
            });
        }
        Fault::FlushAll { node: number } => {
            let node = node(&sim, number);
            excuse(&sim, "FLUSHALL", Scope::Node(node), None, false);
            engine.with_fleet(|fleet, now| fleet.flushall(now, node));
        }
        Fault::Evict { lock } => {
            let lock = lock % Sim::locks(&sim.plan);
            excuse(&sim, "eviction", Scope::Lock(lock), None, false);
            let (node, key) = home(&sim, lock);
            let text = crate::judges::text_of(sim.plan.setup.mutexes, lock);
            let random = &mut Random::of(sim.plan.seed, "evicted", engine.now());
            let key = text.filter(|_| random.chance(500)).unwrap_or(key);
            engine.with_fleet(|fleet, now| fleet.evict(now, node, key.as_bytes()));
        }
        Fault::ClockStep {
            node: number,
            micros,
        } => {
            let node = node(&sim, number);
            let far = micros.unsigned_abs() > MOST_APART;
            if micros < 0 {
                sim.judges.set_back();
            }
            if far {
                excuse_step(&sim, node, micros);
            }
            engine.with_fleet(|fleet, now| fleet.clock_step(now, node, micros));
        }
        Fault::MoveAtOnce {
            lock,
            to,
            pause,
            moves,
        } => move_at_once(at_work, lock, to, pause, moves),
        Fault::Migrate {
            lock,
            to,
            steps,
            outcome,
        } => migrate(at_work, lock, to, steps, outcome),
        _ => {}
    }
}

pub(super) fn home(sim: &Sim, lock: usize) -> (NodeId, String) {
    let slot = crate::judges::slot_of(lock);
    let node = sim.engine.fleet(|fleet| fleet.owner(slot));
    (node, crate::judges::key_of(sim.plan.setup.mutexes, lock))
}

/// Tells every waiter of a grant, with a nonce that is as long as a real one, and a few moments later again.
fn forge(at_work: AtWork, lock: usize, times: u32) {
    let sim = Rc::clone(at_work.sim());
    let lock = lock % Sim::locks(&sim.plan);
    let (node, key) = home(&sim, lock);
    let mut random = Random::of(sim.plan.seed, "stranger", sim.engine.now());
    for (id, now) in sim.judges.waiters(&sim.engine, lock) {
        let client = id.rsplit_once('/').map_or("", |(client, _)| client);
        // In a cluster, and on a single server.
        let of_lock = format!("{}:{client}", key.replacen("dlock", "dlock~c", 1));
        let channels = [of_lock, format!("dlock~c:{client}")];
        let message = format!("{id} {} {}", random.any() >> 8, now + 1);
        sim.engine.with_fleet(|fleet, now| {
            let Some(conn) = fleet.accept(node) else {
                return;
            };
            for (command, channel) in [
                ("PUBLISH", 0),
                ("PUBLISH", 1),
                ("SPUBLISH", 0),
                ("SPUBLISH", 1),
            ] {
                let words = [command, &channels[channel], &message];
                let words = words.map(|word| format!("${}\r\n{word}\r\n", word.len()));
                let request = format!("*3\r\n{}", words.concat());
                fleet.feed(now, conn, request.as_bytes());
            }
            fleet.close(conn);
        });
    }
    if times > 1 {
        at_work.then(3 * MS, move |_, at_work| forge(at_work, lock, times - 1));
    }
}
