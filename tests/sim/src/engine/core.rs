//! Everything that is simulated, and what may be done with it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use super::clock::Clock;
use super::desk::{Desk, Service};
use super::network::{Network, Pace};
use super::process::{End, ProcId, Process};
use super::tasks::{Task, Tasks};
use super::timers::Timers;
use super::{MS, Nanos, Random, SECOND};
use crate::history::{Kind, Trace};
use crate::server::{Fleet, NodeId};

/// Something that is done at its time.
pub(crate) type Call = Box<dyn FnOnce(&Engine)>;

/// The observer of each request that a server has carried out, and of each answer.
pub(crate) trait Watch {
    /// It is about to be.
    fn serves(&self, engine: &Engine, node: NodeId, request: &[u8]);

    /// It has just been.
    fn served(&self, engine: &Engine, of: ProcId, node: NodeId, request: &[u8]);

    /// It is being sent.
    fn answered(&self, of: ProcId, answer: &[u8]);
}

/// The whole simulated machine room.
pub(crate) struct Engine {
    pub(super) seed: u64,
    pub(super) now: Cell<Nanos>,
    pub(super) current: Cell<ProcId>,
    pub(super) processes: RefCell<Vec<Process>>,
    pub(super) tasks: RefCell<Tasks>,
    pub(super) timers: RefCell<Timers>,
    pub(super) net: RefCell<Network>,
    pub(super) links: RefCell<Random>,
    fleet: RefCell<Fleet>,
    trace: RefCell<Trace>,
    /// Draws who runs next, unless it is the first in line.
    pub(super) order: RefCell<Option<Random>>,
    pub(super) calls: RefCell<BTreeMap<(Nanos, u64), Call>>,
    pub(super) called: Cell<u64>,
    pub(super) tick: Cell<Nanos>,
    pub(super) tick_every: Cell<Nanos>,
    pub(super) watcher: RefCell<Option<Rc<dyn Watch>>>,
    /// How long servers take, what waits at each, and how long what is being done takes.
    pub(super) service: Cell<Service>,
    pub(super) desks: RefCell<BTreeMap<NodeId, Desk>>,
    pub(super) working: Cell<Nanos>,
}

impl Engine {
    pub(crate) fn new(seed: u64, fleet: Fleet, pace: Pace, drawn_order: bool, told: bool) -> Self {
        let mut net = Network::default();
        net.pace = pace;
        let judge = Process::new(usize::MAX, Clock::new(0, 0), Random::of(seed, "judge", 0));
        Self {
            seed,
            now: Cell::new(0),
            current: Cell::default(),
            processes: RefCell::new(vec![judge]),
            tasks: RefCell::default(),
            timers: RefCell::default(),
            net: RefCell::new(net),
            links: RefCell::new(Random::of(seed, "links", 0)),
            fleet: RefCell::new(fleet),
            trace: RefCell::new(Trace::new(told)),
            order: RefCell::new(drawn_order.then(|| Random::of(seed, "order", 0))),
            calls: RefCell::default(),
            called: Cell::new(0),
            tick: Cell::new(100 * MS),
            tick_every: Cell::new(100 * MS),
            watcher: RefCell::default(),
            service: Cell::default(),
            desks: RefCell::default(),
            working: Cell::default(),
        }
    }

    pub(crate) fn watch(&self, watcher: Rc<dyn Watch>) {
        *self.watcher.borrow_mut() = Some(watcher);
    }

    pub(crate) fn now(&self) -> Nanos {
        self.now.get()
    }

    /// As servers are told it.
    pub(crate) fn time(&self) -> Duration {
        Duration::from_nanos(self.now())
    }

    pub(crate) fn current(&self) -> ProcId {
        self.current.get()
    }

    /// Looks at the servers.
    pub(crate) fn fleet<T>(&self, look: impl FnOnce(&Fleet) -> T) -> T {
        look(&self.fleet.borrow())
    }

    /// Does something to the servers, and sends what they say to it.
    pub(crate) fn with_fleet<T>(&self, act: impl FnOnce(&mut Fleet, Duration) -> T) -> T {
        let outcome = act(&mut self.fleet.borrow_mut(), self.time());
        self.collect();
        outcome
    }

    /// What servers have written since.
    pub(super) fn written(
        &self,
    ) -> (
        Vec<(crate::server::ConnId, crate::server::Output)>,
        Vec<crate::server::Link>,
    ) {
        let mut fleet = self.fleet.borrow_mut();
        (fleet.take_output(), fleet.take_links())
    }

    /// Does something as a process would.
    pub(crate) fn acting<T>(&self, of: ProcId, act: impl FnOnce() -> T) -> T {
        let before = self.current.replace(of);
        let outcome = act();
        self.current.set(before);
        outcome
    }

    /// Notes something in the trace.
    pub(crate) fn step(&self, what: &str, whom: u64, bytes: &[u8]) {
        self.trace.borrow_mut().step(self.now(), what, whom, bytes);
    }

    /// Tells a reader of the timeline something.
    pub(crate) fn tell(&self, kind: Kind, what: impl FnOnce() -> String) {
        if self.trace.borrow().is_told() {
            self.trace.borrow_mut().tell(self.now(), kind, what);
        }
    }

    pub(crate) fn trace<T>(&self, look: impl FnOnce(&Trace) -> T) -> T {
        look(&self.trace.borrow())
    }

    /// A new process. What it draws depends on its number alone, and on how often one with that number has started.
    pub(crate) fn start_process(&self, number: usize, ppm: i32) -> ProcId {
        let mut processes = self.processes.borrow_mut();
        let again = processes.iter().filter(|one| one.number == number).count();
        let name = (number as u64) << 16 | again as u64;
        let up = SECOND * (1000 + name % 1000);
        let random = Random::of(self.seed, "process", name);
        processes.push(Process::new(number, Clock::new(ppm, up), random));
        ProcId(processes.len() - 1)
    }

    pub(crate) fn is_alive(&self, of: ProcId) -> bool {
        self.processes.borrow()[of.0].alive
    }

    pub(crate) fn runs(&self, of: ProcId) -> bool {
        self.processes.borrow()[of.0].runs()
    }

    /// Since when a process runs, if it does.
    pub(crate) fn runs_since(&self, of: ProcId) -> Nanos {
        self.processes.borrow()[of.0].resumed
    }

    /// Starts a task of a process.
    pub(crate) fn spawn_in(&self, of: ProcId, task: Task) -> u64 {
        self.tasks.borrow_mut().spawn(of, task)
    }

    pub(crate) fn tasks_of(&self, of: ProcId) -> usize {
        self.tasks.borrow().count(of)
    }

    /// The process does not run from now on; with `suspend` its machine sleeps.
    pub(crate) fn stop(&self, of: ProcId, suspend: bool) {
        let mut processes = self.processes.borrow_mut();
        let process = &mut processes[of.0];
        process.stops += 1;
        process.stopped.get_or_insert((self.now.get(), suspend));
    }

    /// It runs on, unless something else still stops it.
    pub(crate) fn go_on(&self, of: ProcId) {
        let mut processes = self.processes.borrow_mut();
        let process = &mut processes[of.0];
        process.stops = process.stops.saturating_sub(1);
        if process.stops > 0 {
            return;
        }
        process.resumed = self.now.get();
        if let Some((since, true)) = process.stopped.take() {
            process.clock.was_suspended(since, self.now.get());
        }
        let mut tasks = self.tasks.borrow_mut();
        for id in process.parked.drain(..) {
            tasks.unpark(id);
        }
    }

    /// The process is no more.
    pub(crate) fn crash(&self, of: ProcId, end: End) {
        self.hang_up_all(of, end);
        self.processes.borrow_mut()[of.0].alive = false;
        let tasks = self.tasks.borrow_mut().take_all(of);
        self.acting(of, || drop(tasks));
    }

    /// Everything is dropped.
    pub(crate) fn end(&self) {
        drop(self.calls.take());
        let processes = self.processes.borrow().len();
        for of in (0..processes).map(ProcId) {
            self.processes.borrow_mut()[of.0].alive = false;
            let tasks = self.tasks.borrow_mut().take_all(of);
            self.acting(of, || drop(tasks));
        }
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}
