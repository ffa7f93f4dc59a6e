//! A process: its client, and its tasks.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use dlock::Client;
use dlock::sim::sleep;

use super::act::{Who, act};
use super::foreign;
use super::sim::{Running, Sim, Worker};
use crate::engine::{Engine, MS, ProcId, Random};
use crate::history::Kind;
use crate::plan::{Op, ProcessPlan, TaskPlan};

/// Starts a process of the plan, for the first time or again.
pub(crate) fn start(sim: &Rc<Sim>, index: usize) {
    let plan = &sim.plan.processes[index];
    let of = sim.engine.start_process(plan.number, plan.ppm);
    let cursors = {
        let mut processes = sim.processes.borrow_mut();
        if let Some(running) = processes.get_mut(index) {
            running.of = of;
            running.client = None;
            running.ending = false;
            Rc::clone(&running.cursors)
        } else {
            let cursors = Rc::new(plan.tasks.iter().map(|_| Cell::new(0)).collect());
            processes.push(Running {
                of,
                client: None,
                cursors: Rc::clone(&cursors),
                ending: false,
            });
            cursors
        }
    };
    sim.engine.tell(Kind::Client, || {
        format!("p{} starts ({})", of.0, plan.number)
    });
    if let Some(linger) = plan.linger {
        sim.judges.lets_linger(of, linger);
    }
    let worker = Worker::new(sim);
    if plan.foreign.is_some() {
        sim.judges.is_foreign(of);
        foreign::start(sim, index, of, &cursors);
        return;
    }
    let main = main(Rc::clone(sim), index, of, cursors, worker);
    sim.engine.spawn_in(of, Box::pin(main));
}

async fn main(
    sim: Rc<Sim>,
    index: usize,
    of: ProcId,
    cursors: Rc<Vec<Cell<usize>>>,
    worker: Worker,
) {
    let plan = &sim.plan.processes[index];
    let url = url(&sim.engine, plan.number);
    let client = loop {
        if sim.engine.now() > sim.plan.setup.demands.ends {
            return;
        }
        let to = if sim.plan.setup.members > 0 {
            Client::builder().quorum(addresses(&sim.engine, 0))
        } else {
            Client::builder().url(&url)
        };
        let to = to
            .client_name(format!("p{}", of.0))
            .lease(Duration::from_nanos(plan.lease))
            .response_timeout(Duration::from_nanos(plan.response_timeout))
            .retry_for(Duration::from_nanos(plan.retry_for));
        let to = match plan.max_hold {
            Some(max_hold) => to.max_hold(Duration::from_nanos(max_hold)),
            None => to,
        };
        match to.build().await {
            Ok(client) => break client,
            Err(error) => {
                sim.engine.tell(Kind::Client, || {
                    format!("p{} cannot connect: {error}", of.0)
                });
                sleep(Duration::from_millis(50)).await;
            }
        }
    };
    sim.processes.borrow_mut()[index].client = Some(client.clone());
    for at in 0..plan.tasks.len() {
        let worker = Worker::new(&sim);
        let job = work(
            Rc::clone(&sim),
            index,
            at,
            of,
            client.clone(),
            Rc::clone(&cursors),
            worker,
        );
        sim.engine.spawn_in(of, Box::pin(job));
    }
    drop(worker);
}

async fn work(
    sim: Rc<Sim>,
    index: usize,
    at: usize,
    of: ProcId,
    client: Client,
    cursors: Rc<Vec<Cell<usize>>>,
    _worker: Worker,
) {
    let plan = &sim.plan.processes[index];
    let task = &plan.tasks[at];
    while let Some(number) = task.ops.get(cursors[at].get()) {
        let done = cursors[at].get() + 1;
        cursors[at].set(done);
        if sim.engine.now() > sim.plan.setup.demands.ends || sim.processes.borrow()[index].ending {
            return;
        }
        let op = op_of(&sim, plan, task, *number);
        if op.rest > 0 {
            sleep(Duration::from_nanos(op.rest)).await;
        }
        let who = Who {
            of,
            task: task.number,
            max_hold: plan.max_hold,
            lease: plan.lease,
        };
        act(&sim, who, plan, &client, op).await;
    }
}

fn op_of(sim: &Sim, plan: &ProcessPlan, task: &TaskPlan, number: u64) -> Op {
    if let Some(given) = &task.given {
        return given[usize::try_from(number).unwrap_or(0) % given.len()].clone();
    }
    let random = Random::of(sim.plan.seed, "op", task.number << 32 | number);
    let locks = sim.plan.setup.locks;
    let mut op = task.shape.op(locks, plan.lease.max(MS), random);
    let mutexes = sim.plan.setup.mutexes;
    if mutexes.has(op.locks[0]) {
        op.write = true;
        (op.owner, op.inner) = (None, None);
    }
    // The attribute takes several of one kind.
    let first = mutexes.has(op.locks[0]);
    op.locks.retain(|lock| mutexes.has(*lock) == first);
    if !plan.min_holds {
        return op;
    }
    op.with_min_hold(Random::of(
        sim.plan.seed,
        "min_hold of",
        task.number << 32 | number,
    ))
}

/// A few servers to start from, which are not the same for all.
fn url(engine: &Engine, number: usize) -> String {
    let mut few = addresses(engine, number);
    few.truncate(3);
    let few: Vec<&str> = few.iter().map(|url| &url["redis://".len()..]).collect();
    format!("redis://{}", few.join(","))
}

/// All servers, from one of them on.
fn addresses(engine: &Engine, first: usize) -> Vec<String> {
    engine.fleet(|fleet| {
        let nodes: Vec<_> = fleet.nodes().collect();
        let rotated = (0..nodes.len()).map(|at| nodes[(at + first) % nodes.len()]);
        let url = |node| {
            let (host, port) = fleet.addr(node);
            format!("redis://{host}:{port}")
        };
        rotated.map(url).collect()
    })
}
