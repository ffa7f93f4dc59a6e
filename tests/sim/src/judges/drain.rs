//! A client that is drained gives no new locks, and those who hold one may finish, or the drain says that they could not.

use std::collections::BTreeMap;

use dlock::Error;

use super::Judges;
use super::belief::Belief;
use crate::engine::{Engine, Nanos, ProcId};

/// Since when which processes have been drained.
pub(super) type Drains = BTreeMap<ProcId, Nanos>;

impl Judges {
    /// A process begins to drain its client.
    pub(crate) fn drains(&self, of: ProcId, now: Nanos) {
        self.drains.borrow_mut().insert(of, now);
    }

    /// It has ended.
    pub(crate) fn look_at_drain(&self, engine: &Engine, of: ProcId, outcome: &Result<(), Error>) {
        if outcome.is_ok() && self.is_left_without(of) {
            let story = format!("p{} was drained well, and somebody lost a lock by it", of.0);
            self.object("drain", engine.now(), story);
        }
    }

    /// A task was granted a lock.
    pub(super) fn look_at_end(&self, engine: &Engine, belief: &Belief) {
        let since = self.drains.borrow().get(&belief.of).copied();
        if since.is_some_and(|since| engine.now() > since) {
            let story = format!("{} got a lock of a client that ends", belief.name());
            self.object("drain", engine.now(), story);
        }
    }
}
