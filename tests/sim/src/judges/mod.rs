//! The checkers, each of which objects to one kind of mistake. Each judge knows one promise; they look after every step and
//! change nothing.

mod answers;
mod asking;
mod belief;
mod collapse;
mod drain;
mod excuses;
mod fence;
mod gaps;
mod guard;
mod home;
mod idle;
mod leftovers;
mod limits;
mod lingering;
mod marks;
mod members;
mod moments;
mod named;
mod order;
mod others;
mod patience;
mod record;
mod rest;
mod slices;
mod tokens;
mod traffic;

use std::cell::{Cell, RefCell};

use self::asking::Asked;
use self::belief::Beliefs;
use self::collapse::Load;
use self::drain::Drains;
use self::excuses::Excuses;
use self::fence::Resource;
use self::gaps::Gaps;
use self::home::Home;
use self::idle::Idle;
use self::limits::{Dead, Leases};
use self::lingering::Lingering;
use self::moments::Moments;
use self::order::Order;
use self::others::Others;
use self::patience::Waits;
use self::rest::Rests;
use self::traffic::Traffic;
use crate::engine::Nanos;
use crate::plan::{Demands, Plan};

pub(crate) use self::answers::Told;
pub(crate) use self::belief::Belief;
pub(crate) use self::excuses::{Excuse, Scope, slot_of};
pub(crate) use self::guard::Guard;
pub(crate) use self::home::{key_of, text_of};
pub(crate) use self::patience::Waiting;

/// A promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Which one, in a word or two.
    pub(crate) promise: &'static str,
    /// What happened.
    pub(crate) story: String,
    pub(crate) at: Nanos,
}

/// All judges of one run.
#[derive(Debug)]
pub(crate) struct Judges {
    homes: Vec<Home>,
    beliefs: RefCell<Beliefs>,
    rests: RefCell<Rests>,
    asked: RefCell<Asked>,
    drains: RefCell<Drains>,
    excuses: RefCell<Excuses>,
    resources: RefCell<Vec<Resource>>,
    order: RefCell<Order>,
    waits: RefCell<Waits>,
    idle: RefCell<Idle>,
    lingering: RefCell<Lingering>,
    traffic: RefCell<Traffic>,
    others: RefCell<Others>,
    moments: RefCell<Moments>,
    gaps: RefCell<Gaps>,
    load: RefCell<Load>,
    dead: RefCell<Vec<Dead>>,
    leases: RefCell<Vec<Leases>>,
    demands: Demands,
    /// How many servers have each lock, of a quorum; 0 if there is none.
    members: usize,
    /// Whether servers may refuse what is asked of them.
    refusals: bool,
    /// Whether some hold only for so long.
    has_limits: bool,
    most_for_a_try: Nanos,
    found: RefCell<Option<Violation>>,
    /// When all was well again, if it is: no fault is at work.
    calm_since: Cell<Option<Nanos>>,
    /// A fault that does harm.
    unharmed_since: Cell<Option<Nanos>>,
}

impl Judges {
    pub(crate) fn new(plan: &Plan, locks: usize) -> Self {
        Self {
            homes: (0..locks)
                .map(|lock| Home::of(plan.setup.mutexes, lock))
                .collect(),
            beliefs: RefCell::default(),
            rests: RefCell::default(),
            asked: RefCell::default(),
            drains: RefCell::default(),
            excuses: RefCell::new(Excuses::of(plan)),
            resources: RefCell::new(vec![Resource::default(); locks]),
            order: RefCell::new(Order::new(locks, plan.setup.demands.keeps_order)),
            waits: RefCell::new(Waits::new(plan, locks)),
            idle: RefCell::new(Idle::new(plan)),
            lingering: RefCell::new(Lingering::new(plan, Waits::new(plan, locks).hand_over)),
            traffic: RefCell::new(Traffic::new(locks)),
            others: RefCell::default(),
            moments: RefCell::new(Moments::new(locks)),
            gaps: RefCell::new(Gaps::new(locks, plan.setup.demands.gap)),
            load: RefCell::new(Load::new(plan.setup.demands)),
            dead: RefCell::default(),
            leases: RefCell::new((0..locks).map(|_| Leases::default()).collect()),
            demands: plan.setup.demands,
            has_limits: plan.processes.iter().any(|one| one.max_hold.is_some()),
            members: plan.setup.members,
            refusals: plan.has_refusals(),
            most_for_a_try: answers::most_for_a_try(plan),
            found: RefCell::default(),
            calm_since: Cell::new(Some(0)),
            unharmed_since: Cell::new(Some(0)),
        }
    }

    /// The first thing that went wrong counts.
    pub(crate) fn object(&self, promise: &'static str, at: Nanos, story: String) {
        self.found
            .borrow_mut()
            .get_or_insert(Violation { promise, story, at });
    }

    pub(crate) fn verdict(&self) -> Option<Violation> {
        self.found.borrow().clone()
    }

    /// A fault begins now, or the last one has ended.
    pub(crate) fn calm(&self, now: Nanos, is_calm: bool) {
        self.calm_since.set(is_calm.then_some(now));
        let mut load = self.load.borrow_mut();
        if is_calm {
            load.is_over(now);
        } else {
            load.begins(now);
        }
    }

    /// A fault that does harm begins, or the last one has ended.
    pub(crate) fn unharmed(&self, since: Option<Nanos>) {
        self.unharmed_since.set(since);
    }

    /// Whether no fault has been at work for so long.
    fn is_calm(&self, now: Nanos, long: Nanos) -> bool {
        is_past(self.calm_since.get(), now, long)
    }

    /// Whether none has done harm for so long.
    fn is_unharmed(&self, now: Nanos, long: Nanos) -> bool {
        is_past(self.unharmed_since.get(), now, long)
    }

    /// How many overlaps were put down to what Redis had lost.
    pub(crate) fn excused(&self) -> u64 {
        self.excuses.borrow().used
    }
}

fn is_past(since: Option<Nanos>, now: Nanos, long: Nanos) -> bool {
    since.is_some_and(|since| since == 0 || now >= since + long)
}
