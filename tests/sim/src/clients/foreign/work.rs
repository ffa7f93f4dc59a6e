//! What such a process does: it polls until it has a mutex, and gives it back, or forgets to.

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use dlock::__internals::BootInstant;
use dlock::sim::sleep;

use super::dialect::Entry;
use super::redis::Redis;
use crate::clients::hold::Holding;
use crate::clients::sim::{Sim, Worker};
use crate::engine::{MS, Nanos, ProcId, Random};
use crate::faults;
use crate::history::Kind;
use crate::judges::{Belief, Guard, Waiting};
use crate::plan::{Dialect, Foreign, ForeignOp, Patience};

/// What clocks may differ by, and roundings (`driftFactor` and 2 ms of node-redlock).
fn validity(lease: Nanos) -> Duration {
    Duration::from_nanos((lease - lease / 100).saturating_sub(2 * MS))
}

/// One task.
struct Client {
    sim: Rc<Sim>,
    of: ProcId,
    task: u64,
    foreign: Foreign,
    lease: Nanos,
    redis: Redis,
    random: Random,
    _worker: Worker,
}

/// Starts the tasks of a process.
pub(in crate::clients) fn start(
    sim: &Rc<Sim>,
    index: usize,
    of: ProcId,
    cursors: &Rc<Vec<Cell<usize>>>,
) {
    let plan = &sim.plan.processes[index];
    let Some(foreign) = plan.foreign else { return };
    for (at, task) in plan.tasks.iter().enumerate() {
        let seeds = sim.engine.fleet(|fleet| {
            let nodes = fleet.nodes().map(|node| fleet.addr(node));
            nodes.collect()
        });
        let client = Client {
            sim: Rc::clone(sim),
            of,
            task: task.number,
            foreign,
            lease: plan.lease,
            redis: Redis::new(seeds, plan.response_timeout),
            random: Random::of(
                sim.plan.seed,
                "foreign client",
                (of.0 as u64) << 32 | task.number,
            ),
            _worker: Worker::new(sim),
        };
        let job = client.work(index, at, Rc::clone(cursors));
        sim.engine.spawn_in(of, Box::pin(job));
    }
}

impl Client {
    async fn work(mut self, index: usize, at: usize, cursors: Rc<Vec<Cell<usize>>>) {
        let sim = Rc::clone(&self.sim);
        let plan = &sim.plan.processes[index];
        let task = &plan.tasks[at];
        while let Some(number) = task.ops.get(cursors[at].get()) {
            cursors[at].set(cursors[at].get() + 1);
            let op = sim.plan.foreign_op(plan, task.number, *number);
            let Some(op) = op.filter(|_| sim.engine.now() <= sim.plan.setup.demands.ends) else {
                return;
            };
            sleep(Duration::from_nanos(op.rest)).await;
            self.act(op).await;
        }
    }

    async fn act(&mut self, op: ForeignOp) {
        let sim = Rc::clone(&self.sim);
        sim.begun.set(sim.begun.get() + 1);
        faults::look(&sim);
        let entry = Entry {
            lock: op.lock,
            value: self.value(),
            millis: self.lease / MS,
        };
        if let Some(holding) = self.acquire(op, &entry).await {
            self.hold(op, &entry, holding).await;
        }
        sim.count();
    }

    /// Its own process, and its own state.
    fn value(&mut self) -> String {
        let (of, first, second) = (self.of.0, self.random.any(), self.random.any());
        match self.foreign.dialect {
            Dialect::RedisPy => format!("{of:08x}{first:016x}{:08x}", second >> 32),
            Dialect::NodeRedlock => format!("{of:08x}{first:016x}{second:016x}"),
        }
    }

    async fn acquire(&mut self, op: ForeignOp, entry: &Entry) -> Option<Held> {
        let Self { of, task, .. } = *self;
        let sim = Rc::clone(&self.sim);
        let begun = BootInstant::now();
        let _waits = Waits::new(&sim, of, task, op);
        // Each try has the same value: if the command that undoes one is late, it undoes the next, and no program may count on
        // that.
        let mut undone = true;
        loop {
            let (asked, asked_at) = (sim.engine.now(), BootInstant::now());
            let got = entry.acquire(self.foreign.dialect, &mut self.redis).await;
            sim.engine
                .step("foreign", task, &[u8::from(got == Ok(true))]);
            let until = asked_at + validity(self.lease);
            if got == Ok(true) && BootInstant::now() < until {
                let until = if undone { until } else { asked_at };
                return Some(Held::new(&sim, (of, task), op.lock, asked, until));
            }
            if got != Ok(false) && self.foreign.dialect == Dialect::NodeRedlock {
                // What may have come of it goes.
                let released = entry.release(self.foreign.dialect, &mut self.redis).await;
                undone &= released.is_ok();
            }
            let poll = match self.foreign.dialect {
                Dialect::RedisPy => self.foreign.poll,
                Dialect::NodeRedlock => {
                    self.foreign.poll / 2 + self.random.within(0, self.foreign.poll)
                }
            };
            let waited = BootInstant::now().since(begun) + Duration::from_nanos(poll);
            if waited > Duration::from_nanos(op.patience)
                || sim.engine.now() > sim.plan.setup.demands.ends
            {
                sim.engine.tell(Kind::Client, || {
                    format!("p{} t{task} (foreign) gives up", of.0)
                });
                return None;
            }
            sleep(Duration::from_nanos(poll)).await;
        }
    }

    async fn hold(&mut self, op: ForeignOp, entry: &Entry, held: Held) {
        let dialect = self.foreign.dialect;
        sleep(Duration::from_nanos(op.hold)).await;
        if op.extends {
            let asked = BootInstant::now();
            match entry.extend(dialect, &mut self.redis).await {
                Ok(true) if held.until.get() > asked => {
                    held.until.set(asked + validity(self.lease));
                }
                Ok(true) | Err(_) => {}
                Ok(false) => return,
            }
            sleep(Duration::from_nanos(op.hold)).await;
        }
        drop(held);
        if !op.forgets {
            let released = entry.release(dialect, &mut self.redis).await;
            let (of, task) = (self.of, self.task);
            self.sim.engine.tell(Kind::Client, || {
                format!(
                    "p{} t{task} (foreign) gave lock {} back: {released:?}",
                    of.0, op.lock
                )
            });
        }
    }
}

/// It believes to hold a mutex for as long as this is there.
struct Held {
    until: Rc<Cell<BootInstant>>,
    _holding: Holding,
}

impl Held {
    fn new(
        sim: &Rc<Sim>,
        (of, task): (ProcId, u64),
        lock: usize,
        asked: Nanos,
        until: BootInstant,
    ) -> Self {
        let until = Rc::new(Cell::new(until));
        let belief = Belief {
            of,
            task,
            lock,
            write: true,
            owner: None,
            asked,
            since: sim.engine.now(),
            min_hold: None,
            max_hold: None,
            lease: 0,
            named: 0,
            guard: Weak::new(),
        };
        let guard = Guard::Foreign(Rc::clone(&until));
        Self {
            _holding: Holding::new(sim, belief, guard),
            until,
        }
    }
}

/// It waits for as long as this is there.
struct Waits(Rc<Sim>, u64);

impl Waits {
    fn new(sim: &Rc<Sim>, of: ProcId, task: u64, op: ForeignOp) -> Self {
        let waiting = Waiting {
            of,
            task,
            locks: vec![op.lock],
            write: true,
            patience: Patience::For(op.patience),
        };
        let number = sim.judges.waits(sim.engine.now(), waiting);
        sim.engine.tell(Kind::Client, || {
            format!("p{} t{task} (foreign) wants lock {}", of.0, op.lock)
        });
        Self(Rc::clone(sim), number)
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.judges.stops_waiting(self.0.engine.now(), self.1);
    }
}
