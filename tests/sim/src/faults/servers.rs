//! Faults of servers, and what operators do.

use std::rc::Rc;

use super::begin::AtWork;
use super::processes::node;
use crate::clients::Sim;
use crate::engine::{Engine, MS, Nanos, Random, SECOND};
use crate::judges::{Excuse, Scope};
use crate::plan::Fault;
use crate::server::{FailKind, Migration, NodeId, Promotion, Role, WakeOrder};

fn excuse(sim: &Sim, what: &'static str, scope: Scope, deposed: Option<NodeId>, tokens: bool) {
    let excuse = Excuse {
        what,
        scope,
        at: sim.engine.now(),
        deposed,
        tokens,
    };
    let locks = Sim::locks(&sim.plan);
    sim.judges.excuse(&sim.engine, excuse, locks);
}

fn order(clients_first: bool) -> WakeOrder {
    if clients_first {
        WakeOrder::ClientsFirst
    } else {
        WakeOrder::LinksFirst
    }
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
            at_work.then(lasts, move |engine, _| {
                engine.with_fleet(|fleet, now| fleet.wake(now, node, order(clients_first)));
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
            if let Some((_, replica)) = pair(&sim, number) {
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
            engine.with_fleet(|fleet, now| fleet.evict(now, node, key.as_bytes()));
        }
        Fault::ClockStep {
            node: number,
            micros,
        } => {
            let node = node(&sim, number);
            let far = micros.abs() > 1000;
            if micros < 0 {
                sim.judges.set_back();
            }
            if far {
                excuse(&sim, "clock step", Scope::Node(node), None, micros < -MINUTE);
                // Deadlines move to other nodes as absolute times.
                for other in engine.fleet(|fleet| fleet.nodes().collect::<Vec<_>>()) {
                    excuse(&sim, "clocks that differ", Scope::Node(other), None, true);
                }
            }
            engine.with_fleet(|fleet, now| fleet.clock_step(now, node, micros));
        }
        Fault::Migrate {
            lock,
            to,
            steps,
            call_off,
            tell,
        } => migrate(at_work, lock, to, steps, call_off, tell),
        _ => {}
    }
}

const MINUTE: i64 = 60_000_000;

fn home(sim: &Sim, lock: usize) -> (NodeId, String) {
    let slot = crate::judges::slot_of(lock);
    let node = sim.engine.fleet(|fleet| fleet.owner(slot));
    (node, crate::judges::key_of(lock))
}

fn restart(at_work: AtWork, node: NodeId, with_data: bool, after: Nanos) {
    let sim = Rc::clone(at_work.sim());
    let master = sim.engine.fleet(|fleet| fleet.role(node) == Role::Master);
    if !with_data && master {
        let what = "restart without data";
        excuse(&sim, what, Scope::Node(node), None, false);
    }
    sim.engine.with_fleet(|fleet, _| fleet.kill(node));
    at_work.then(after, move |engine, _| {
        engine.with_fleet(|fleet, now| fleet.restart(now, node, with_data));
    });
}

/// Tells everybody who waits, and a few moments later again.
fn forge(at_work: AtWork, lock: usize, times: u32) {
    let sim = Rc::clone(at_work.sim());
    let lock = lock % Sim::locks(&sim.plan);
    let (node, key) = home(&sim, lock);
    let mut random = Random::of(sim.plan.seed, "stranger", sim.engine.now());
    for (id, now) in sim.judges.waiters(&sim.engine, lock) {
        let client = id.rsplit_once('/').map_or("", |(client, _)| client);
        let channel = format!("{}:{client}", key.replacen("dlock:", "dlock~c:", 1));
        let message = format!("{id} {:014x} {}", random.any() >> 8, now + 1);
        sim.engine.with_fleet(|fleet, now| {
            let Some(conn) = fleet.accept(node) else {
                return;
            };
            for command in ["PUBLISH", "SPUBLISH"] {
                let words = [command, &channel, &message];
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

/// A master that has a replica, and the replica.
fn pair(sim: &Sim, number: usize) -> Option<(NodeId, NodeId)> {
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

fn fail_over(
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
        let what = "failover that lost writes";
        excuse(sim, what, Scope::Node(master), Some(master), false);
        engine.with_fleet(|fleet, now| fleet.promote(now, replica, Promotion::Automatic));
        at_work.then(wakes, move |engine, _| {
            engine.with_fleet(|fleet, now| {
                if dies {
                    fleet.restart(now, master, true);
                } else {
                    fleet.wake(now, master, order(clients_first));
                }
            });
        });
    });
}

fn fail_script(
    at_work: AtWork,
    node: NodeId,
    at_call: usize,
    dies: Option<(bool, bool)>,
    after: Nanos,
) {
    let sim = Rc::clone(at_work.sim());
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

/// The steps of a migration, or of one that is called off.
fn migrate(
    at_work: AtWork,
    lock: usize,
    to: usize,
    steps: [Nanos; 4],
    call_off: bool,
    tell: bool,
) {
    let sim = Rc::clone(at_work.sim());
    let (from, _) = home(&sim, lock % Sim::locks(&sim.plan));
    let slot = crate::judges::slot_of(lock % Sim::locks(&sim.plan));
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
