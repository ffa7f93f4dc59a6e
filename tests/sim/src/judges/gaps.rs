//! A free lock of a quorum is granted soon, although several clients want it and get some of its servers each: the time without a
//! grant while a majority of servers is well, and the lock is free and wanted.

use std::collections::BTreeMap;

use super::Judges;
use super::members::up;
use crate::engine::{Engine, MS, Nanos, SECOND};

/// How long that may last while nothing is wrong, and while a minority of servers, or somebody's way to them, is.
const MOST: [Nanos; 2] = [5 * SECOND, 60 * SECOND];

/// How long after a fault nothing is wrong any more.
const CALM: Nanos = 8 * SECOND;

/// So far of each lock, and the longest: while nothing is wrong, and at any time.
#[derive(Debug)]
pub(super) struct Gaps {
    now: Vec<[Nanos; 2]>,
    longest: [Nanos; 2],
    most: [Nanos; 2],
}

impl Gaps {
    pub(super) fn new(locks: usize, most: Option<Nanos>) -> Self {
        Self {
            now: vec![[0; 2]; locks],
            longest: [0; 2],
            most: most.map_or(MOST, |most| [most; 2]),
        }
    }
}

impl Judges {
    /// A task is granted a lock, or leaves it.
    pub(super) fn ends_gap(&self, lock: usize) {
        self.gaps.borrow_mut().now[lock] = [0; 2];
    }

    pub(crate) fn longest_gaps(&self) -> [Nanos; 2] {
        self.gaps.borrow().longest
    }

    /// Looks at all locks, so long after the last time.
    pub(crate) fn look_at_gaps(&self, engine: &Engine, passed: Nanos) {
        if !self.is_quorum() {
            return;
        }
        let now = engine.now();
        let calm = self.is_unharmed(now, CALM);
        let mut gaps = self.gaps.borrow_mut();
        for lock in 0..self.homes.len() {
            if !self.is_wanted(engine, lock) {
                gaps.now[lock] = [0; 2];
                continue;
            }
            if self.is_believed(lock, true) || !self.is_free(engine, lock) {
                continue;
            }
            let [in_calm, any] = gaps.now[lock];
            let gap = [if calm { in_calm + passed } else { 0 }, any + passed];
            gaps.now[lock] = gap;
            for (at, gap) in gap.into_iter().enumerate() {
                gaps.longest[at] = gaps.longest[at].max(gap);
                if gap > gaps.most[at] {
                    let story = format!("nobody has got lock {lock} for {} ms", gap / MS);
                    self.object("gaps", now, story);
                }
            }
        }
    }

    /// Whether a majority of servers is well and not taken by one, nor by those who are gone.
    fn is_free(&self, engine: &Engine, lock: usize) -> bool {
        let home = &self.homes[lock];
        let mut open = 0;
        let mut ids = BTreeMap::<String, usize>::new();
        for node in up(engine) {
            if engine.fleet(|fleet| fleet.refuses(node)) {
                continue;
            }
            let gone = home.look_at(engine, node, |record| {
                let Some(record) = record else { return false };
                let live = record
                    .holds
                    .iter()
                    .filter(|(_, hold)| hold.until > record.now);
                let mut gone = false;
                for (id, _) in live {
                    *ids.entry((*id).to_owned()).or_default() += 1;
                    gone |= super::home::process_of(id).is_none_or(|of| !engine.runs(of));
                }
                gone
            });
            open += usize::from(!gone);
        }
        open >= self.majority() && ids.into_values().all(|many| many < self.majority())
    }
}
