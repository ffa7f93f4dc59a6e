//! Faults of processes, and on their way to servers.

use std::rc::Rc;
use std::time::Duration;

use super::begin::AtWork;
use crate::clients::{Sim, start};
use crate::engine::{End, Engine, HoldBack, Messages, Nanos, ProcId};
use crate::history::Kind;
use crate::plan::{Breaks, Fault};
use crate::server::NodeId;

/// The process of the plan as it is now, if it lives.
fn who(sim: &Sim, number: usize) -> Option<(usize, ProcId)> {
    let index = sim.process(number)?;
    let of = sim.processes.borrow()[index].of;
    sim.engine.is_alive(of).then_some((index, of))
}

pub(super) fn node(sim: &Sim, number: usize) -> NodeId {
    let nodes: Vec<NodeId> = sim.engine.fleet(|fleet| fleet.nodes().collect());
    nodes[number % nodes.len()]
}

/// Begins what is a fault of these; otherwise gives it back.
pub(super) fn begin(at_work: AtWork, fault: &Fault) -> Option<AtWork> {
    let sim = Rc::clone(at_work.sim());
    let engine = Rc::clone(&sim.engine);
    match *fault {
        Fault::Cut {
            process,
            node: number,
            cut,
            mend,
            lasts,
        } => {
            let (_, of) = who(&sim, process)?;
            let node = node(&sim, number);
            engine.cut(of, node, cut);
            at_work.then(lasts, move |engine, _| engine.mend(of, node, cut, mend));
        }
        Fault::HoldBack {
            process,
            node: number,
            after,
            delay,
            breaks,
        } => {
            let (_, of) = who(&sim, process)?;
            let node = node(&sim, number);
            engine.hold_back(
                of,
                node,
                HoldBack {
                    after,
                    delay,
                    breaks: breaks == Breaks::AtOnce,
                },
            );
            // The time of the next request is unknown: it is over long after that.
            at_work.then(delay, move |engine, at_work| {
                if breaks == Breaks::Late {
                    engine.break_held(of, node);
                }
                at_work.then(delay, move |engine, _| {
                    if breaks != Breaks::AtOnce {
                        engine.hold_back_no_more(of, node);
                    }
                });
            });
        }
        Fault::Reset {
            process,
            node: number,
        } => {
            let (_, of) = who(&sim, process)?;
            engine.reset_all(of, node(&sim, number));
        }
        Fault::HalfOpen {
            process,
            node: number,
        } => {
            let (_, of) = who(&sim, process)?;
            engine.half_open(of, node(&sim, number));
        }
        Fault::Slow {
            process,
            node: number,
            slow,
            lasts,
        } => {
            let (_, of) = who(&sim, process)?;
            let node = node(&sim, number);
            engine.slow(of, node, slow);
            at_work.then(lasts, move |engine, at_work| {
                engine.slow(of, node, 0);
                at_work.then(slow, |_, _| {});
            });
        }
        _ => return begin_more(at_work, fault),
    }
    None
}

fn begin_more(at_work: AtWork, fault: &Fault) -> Option<AtWork> {
    let sim = Rc::clone(at_work.sim());
    let engine = Rc::clone(&sim.engine);
    match *fault {
        Fault::SlowServer {
            node: number,
            slow,
            lasts,
        } => slow_down(at_work, node(&sim, number), slow, lasts),
        Fault::Pause {
            process,
            suspend,
            lasts,
        } => {
            let (_, of) = who(&sim, process)?;
            engine.stop(of, suspend);
            at_work.then(lasts, move |engine, _| engine.go_on(of));
        }
        Fault::Messages {
            process,
            messages,
            lasts,
        } => disturb(at_work, process, messages, lasts),
        Fault::Crash {
            process,
            end,
            restart,
        } => crash(at_work, process, end, restart),
        Fault::Shutdown {
            process,
            drain,
            restart,
        } => shut_down(at_work, process, drain, restart),
        _ => return Some(at_work),
    }
    None
}

/// A server is slow for all who run now.
fn slow_down(at_work: AtWork, node: NodeId, slow: Nanos, lasts: Nanos) {
    let sim = at_work.sim();
    let processes: Vec<ProcId> = sim.processes.borrow().iter().map(|one| one.of).collect();
    let each = move |engine: &Engine, slow| {
        for of in &processes {
            engine.slow(*of, node, slow);
        }
    };
    each(&sim.engine, slow);
    at_work.then(lasts, move |engine, at_work| {
        each(engine, 0);
        at_work.then(slow, |_, _| {});
    });
}

fn disturb(at_work: AtWork, process: usize, messages: Messages, lasts: Nanos) {
    let sim = Rc::clone(at_work.sim());
    let Some((_, of)) = who(&sim, process) else {
        return;
    };
    let nodes: Vec<NodeId> = sim.engine.fleet(|fleet| fleet.nodes().collect());
    for node in &nodes {
        sim.engine.messages(of, *node, messages);
    }
    at_work.then(lasts, move |engine, _| {
        for node in nodes {
            engine.messages(of, node, Messages::default());
        }
    });
}

fn crash(at_work: AtWork, process: usize, end: End, restart: Option<Nanos>) {
    let sim = Rc::clone(at_work.sim());
    let Some((index, of)) = who(&sim, process) else {
        return;
    };
    let lease = sim.plan.processes[index].lease;
    sim.judges.has_died(&sim.engine, of, lease);
    sim.engine.crash(of, end);
    sim.processes.borrow_mut()[index].client = None;
    start_again(at_work, index, restart);
}

/// A client is shut down under its tasks, or drained.
fn shut_down(at_work: AtWork, process: usize, drain: Option<Nanos>, restart: Option<Nanos>) {
    let sim = Rc::clone(at_work.sim());
    let Some((index, of)) = who(&sim, process) else {
        return;
    };
    let client = {
        let mut processes = sim.processes.borrow_mut();
        processes[index].ending = true;
        processes[index].client.take()
    };
    let Some(client) = client else {
        sim.processes.borrow_mut()[index].ending = false;
        return;
    };
    let job = async move {
        let sim = Rc::clone(at_work.sim());
        let outcome = match drain {
            None => client.shutdown().await,
            Some(patience) => {
                sim.judges.drains(of, sim.engine.now());
                let outcome = client.drain(Duration::from_nanos(patience)).await;
                sim.judges.look_at_drain(&sim.engine, of, &outcome);
                outcome
            }
        };
        drop(client);
        sim.judges.is_shut_down(of, sim.engine.now());
        sim.engine.tell(Kind::Client, || {
            format!("p{} is shut down: {outcome:?}", of.0)
        });
        start_again(at_work, index, restart);
    };
    sim.engine.spawn_in(of, Box::pin(job));
}

fn start_again(at_work: AtWork, index: usize, restart: Option<Nanos>) {
    let Some(after) = restart else { return };
    let sim = Rc::clone(at_work.sim());
    sim.restarts.set(sim.restarts.get() + 1);
    at_work.then(after, move |_, _| {
        sim.restarts.set(sim.restarts.get() - 1);
        start(&sim, index);
    });
}
