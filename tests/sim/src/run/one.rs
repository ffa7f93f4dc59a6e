//! Running a plan: load and faults, then calm, then the end of all clients.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Poll;

use dlock::sim::World;
use tokio::runtime::{Builder, RngSeed};

use super::end::wait_until_forgotten;
use crate::clients::{Sim, start};
use crate::engine::{Engine, MS, Nanos, ProcId, SECOND, Watch};
use crate::faults;
use crate::history::{Kind, Trace};
use crate::judges::{Judges, Violation};
use crate::plan::{LockKind, Plan, Profile};
use crate::server::{Fleet, FleetConfig, NodeId};

/// A seed, and how it is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Seed {
    /// Everything is drawn from this.
    pub number: u64,
    /// Whether to keep a timeline, and whether with all that was sent.
    pub told: bool,
    /// See there.
    pub wire: bool,
    /// Which locks it is about.
    pub locks: LockKind,
    /// And which trouble.
    pub profile: Profile,
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What went wrong, if anything did: a promise, and the story.
    pub violation: Option<(String, String)>,
    /// Calls of clients that have ended.
    pub operations: u64,
    /// Faults that were let loose.
    pub faults: u64,
    /// How long it took, in virtual time.
    pub nanos: u64,
    /// A hash of everything that happened.
    pub hash: u64,
    /// Overlaps that were put down to what Redis had lost.
    pub excused: u64,
    /// The longest time without a grant of a lock that was wanted and free at a majority of servers:
    /// while nothing was wrong, and at any time.
    pub gaps: [u64; 2],
    /// When which fault began.
    pub(crate) begun_at: Vec<(u64, u64)>,
    /// How far each task of each process has come.
    pub(crate) came_to: Vec<Vec<usize>>,
    /// What happened, for readers.
    pub timeline: String,
}

/// Draws the plan of a seed and runs it.
#[must_use]
pub fn run_seed(seed: Seed) -> Outcome {
    let plan = Plan::draw(seed.number, seed.locks, seed.profile);
    run_plan(plan, seed.told, seed.wire)
}

/// How long after its last operation each task must be through, and how long a run may take.
const PATIENCE: Nanos = 900 * SECOND;

pub(crate) fn run_plan(plan: Plan, told: bool, wire: bool) -> Outcome {
    let runtime = Builder::new_current_thread()
        .rng_seed(RngSeed::from_bytes(&plan.seed.to_le_bytes()))
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => panic!("no runtime: {error}"),
    };
    let sim = set_up(plan, told);
    let world: Rc<dyn World> = Rc::<Engine>::clone(&sim.engine);
    dlock::sim::enter(Some(world));
    // All in one turn of Tokio's, which lends its context and its seeded choices.
    let mut ran = false;
    let all = std::future::poll_fn(|_| {
        if !std::mem::replace(&mut ran, true) {
            let played = catch_unwind(AssertUnwindSafe(|| play(&sim)));
            if let Err(panic) = played {
                let story = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                let story = story.unwrap_or_default();
                sim.judges.object("panic", sim.engine.now(), story);
            }
        }
        Poll::Ready(())
    });
    runtime.block_on(tokio::task::unconstrained(all));
    let outcome = outcome(&sim, wire);
    // What tasks still own is dropped while there is a world.
    {
        let _context = runtime.enter();
        sim.processes.borrow_mut().clear();
        sim.engine.end();
    }
    dlock::sim::enter(None);
    outcome
}

fn set_up(plan: Plan, told: bool) -> Rc<Sim> {
    let setup = &plan.setup;
    let config = FleetConfig {
        full_coverage: setup.full_coverage,
        ..FleetConfig::default()
    };
    let fleet = if setup.members > 0 {
        Fleet::apart(setup.flavour, setup.members, config)
    } else if setup.masters == 0 {
        Fleet::single(setup.flavour, config)
    } else {
        Fleet::cluster(setup.flavour, setup.masters, setup.replicas, config)
    };
    let engine = Engine::new(plan.seed, fleet, setup.pace, setup.drawn_order, told);
    engine.pace_of_servers(setup.changes, setup.bus);
    engine.serve_in(setup.service);
    for (node, ahead) in setup.ahead.iter().enumerate() {
        engine.with_fleet(|fleet, now| {
            let drift = setup.drifts.get(node).copied().unwrap_or(0);
            fleet.clock_rate(now, NodeId(node), setup.server_ppm + drift);
            fleet.clock_step(now, NodeId(node), *ahead);
        });
    }
    let judges = Rc::new(Judges::new(&plan, Sim::locks(&plan)));
    let engine = Rc::new(engine);
    engine.watch(Rc::new(Watcher(Rc::clone(&judges))));
    Rc::new(Sim {
        engine,
        plan: Rc::new(plan),
        judges,
        processes: RefCell::default(),
        begun: Cell::new(0),
        operations: Cell::new(0),
        workers: Cell::new(0),
        restarts: Cell::new(0),
        faults: Cell::new(0),
        at_work: Cell::new(0),
        harm: Cell::new(0),
        moving: RefCell::default(),
        rests: RefCell::default(),
        troubled: RefCell::default(),
        begun_at: RefCell::default(),
    })
}

struct Watcher(Rc<Judges>);

impl Watch for Watcher {
    fn serves(&self, engine: &Engine, node: NodeId, request: &[u8]) {
        self.0.look_before(engine, node, request);
    }

    fn served(&self, engine: &Engine, of: ProcId, node: NodeId, request: &[u8]) {
        self.0.look_after(engine, of, node, request);
        self.0.look_at_asking(engine, of, request);
        self.0.look_at_lines(engine, of, node, request);
    }

    fn answered(&self, of: ProcId, answer: &[u8]) {
        self.0.note_answer(of, answer);
    }
}

fn over(sim: &Sim) -> bool {
    sim.judges.verdict().is_some()
}

fn play(sim: &Rc<Sim>) {
    let engine = &sim.engine;
    sample(sim, 25 * MS);
    for index in 0..sim.plan.processes.len() {
        start(sim, index);
    }
    engine.run(PATIENCE, || over(sim) || is_through(sim));
    if !over(sim) && !is_through(sim) {
        let story = format!(
            "{} tasks are not through; waiting: {:?}",
            sim.workers.get(),
            sim.judges.who_waits()
        );
        sim.judges.object("progress", engine.now(), story);
    }
    if !over(sim) {
        rest(sim);
    }
    if over(sim) {
        return;
    }
    shut_down(sim);
    if !over(sim) {
        wait_until_forgotten(sim);
    }
}

/// Looks at waits again and again.
fn sample(sim: &Rc<Sim>, every: Nanos) {
    let again = Rc::downgrade(sim);
    let at = sim.engine.now() + every;
    let look = move |engine: &Engine| {
        if let Some(sim) = again.upgrade() {
            sim.judges.look_at_waits(engine);
            sim.judges.look_at_gaps(engine, every);
            sim.judges.look_at_idle(engine);
            sim.judges.look_at_load(engine);
            if (engine.now() / every).is_multiple_of(4) {
                sim.judges.look_at_limits(engine);
            }
            if sim.workers.get() + sim.restarts.get() > 0 {
                sample(&sim, every);
            }
        }
    };
    sim.engine.at(at, Box::new(look));
}

/// No task wants anything: subscriptions end after a while.
fn rest(sim: &Rc<Sim>) {
    let engine = &sim.engine;
    loop {
        engine.tell(Kind::Judge, || "all are through".to_owned());
        let begun = sim.begun.get();
        engine.run(engine.now() + 12 * SECOND, || over(sim));
        // A late fault may have started a process again.
        if over(sim) || is_through(sim) && sim.begun.get() == begun {
            break;
        }
        engine.run(PATIENCE, || over(sim) || is_through(sim));
    }
    sim.judges.look_at_subscriptions(engine);
}

fn is_through(sim: &Sim) -> bool {
    sim.workers.get() == 0 && sim.restarts.get() == 0 && faults::settle(sim)
}

/// Ends all clients; some by letting go of them.
fn shut_down(sim: &Rc<Sim>) {
    let engine = &sim.engine;
    let live: Vec<ProcId> = {
        let mut processes = sim.processes.borrow_mut();
        let mut live = Vec::new();
        for running in processes.iter_mut() {
            let Some(client) = running.client.take() else {
                continue;
            };
            let of = running.of;
            if !engine.is_alive(of) {
                continue;
            }
            live.push(of);
            if of.0 % 3 == 0 {
                // As a process does that forgets to.
                engine.acting(of, || drop(client));
                continue;
            }
            let job = async move {
                // Messages that are not delivered are found below.
                let _ = client.shutdown().await;
            };
            engine.spawn_in(of, Box::pin(job));
        }
        live
    };
    engine.run(engine.now() + 15 * SECOND, || over(sim));
    for of in live {
        sim.judges.look_at_tasks(engine, of);
    }
    sim.judges.look_at_subscriptions(engine);
}

fn outcome(sim: &Sim, wire: bool) -> Outcome {
    let engine = &sim.engine;
    let verdict = sim.judges.verdict();
    if let Some(Violation { promise, story, .. }) = &verdict {
        engine.tell(Kind::Judge, || format!("VIOLATION of {promise}: {story}"));
    }
    Outcome {
        violation: verdict.map(|found| (found.promise.to_owned(), found.story)),
        operations: sim.operations.get(),
        faults: sim.faults.get() as u64,
        nanos: engine.now(),
        hash: engine.trace(Trace::hash),
        excused: sim.judges.excused(),
        gaps: sim.judges.longest_gaps(),
        begun_at: sim.begun_at.borrow().clone(),
        came_to: (sim.processes.borrow().iter())
            .map(|running| running.cursors.iter().map(Cell::get).collect())
            .collect(),
        timeline: engine.trace(|trace| trace.timeline(wire)),
    }
}
