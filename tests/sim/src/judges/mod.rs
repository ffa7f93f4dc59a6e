//! Who says that something went wrong. Each judge knows one promise; they look after every step and change nothing.

mod belief;
mod excuses;
mod fence;
mod leftovers;
mod order;
mod patience;
mod record;

use std::cell::RefCell;

use self::belief::Beliefs;
use self::excuses::Excuses;
use self::fence::Resource;
use self::order::Order;
use self::patience::Waits;
use self::record::Home;
use crate::engine::Nanos;
use crate::plan::Plan;

pub(crate) use self::belief::{Belief, Guard};
pub(crate) use self::excuses::{Excuse, Scope, slot_of};
pub(crate) use self::patience::Waiting;
pub(crate) use self::record::key_of;

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
    excuses: RefCell<Excuses>,
    resources: RefCell<Vec<Resource>>,
    order: RefCell<Order>,
    waits: RefCell<Waits>,
    found: RefCell<Option<Violation>>,
    /// When all was well again, if it is: no fault is at work.
    calm_since: RefCell<Option<Nanos>>,
}

impl Judges {
    pub(crate) fn new(plan: &Plan, locks: usize) -> Self {
        Self {
            homes: (0..locks).map(Home::of).collect(),
            beliefs: RefCell::default(),
            excuses: RefCell::new(Excuses::of(plan)),
            resources: RefCell::new(vec![Resource::default(); locks]),
            order: RefCell::new(Order::new(locks)),
            waits: RefCell::new(Waits::new(plan, locks)),
            found: RefCell::default(),
            calm_since: RefCell::new(Some(0)),
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

    /// A fault begins, or the last one has ended.
    pub(crate) fn calm(&self, since: Option<Nanos>) {
        *self.calm_since.borrow_mut() = since;
    }

    /// Whether no fault has been at work for so long.
    fn is_calm(&self, now: Nanos, long: Nanos) -> bool {
        self.calm_since
            .borrow()
            .is_some_and(|since| since == 0 || now >= since + long)
    }

    /// How many overlaps were put down to what Redis had lost.
    pub(crate) fn excused(&self) -> u64 {
        self.excuses.borrow().used
    }
}
