//! On which shard each lock is. Shards are known by the number of the master that they began with.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dlock_tests::{SLOTS, slot_of};

use crate::plan::{key_named, key_of};

/// How many shards a cluster has.
pub(crate) const SHARDS: usize = 3;

/// Where a lock is, and where it goes.
#[derive(Debug, Clone, Copy)]
struct Home {
    slot: u16,
    shard: usize,
    moves_to: Option<usize>,
}

/// All locks.
#[derive(Debug)]
pub(crate) struct Homes {
    all: Mutex<Vec<Home>>,
    shards: usize,
}

/// The shard that a slot begins at: slots are in ranges of the same size.
fn first_shard(slot: u16, shards: usize) -> usize {
    let first = |shard: usize| usize::from(SLOTS) * shard / shards;
    let shard = (0..shards)
        .rev()
        .find(|shard| first(*shard) <= usize::from(slot));
    shard.unwrap_or(0)
}

impl Homes {
    /// As clusters begin.
    pub(crate) fn new(locks: usize, shards: usize) -> Self {
        let home = |lock| {
            let slot = slot_of(&key_of(lock));
            Home {
                slot,
                shard: first_shard(slot, shards),
                moves_to: None,
            }
        };
        Self {
            all: Mutex::new((0..locks).map(home).collect()),
            shards,
        }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Home>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slot of a lock, and its shard.
    pub(crate) fn of(&self, lock: usize) -> (u16, usize) {
        let home = self.all()[lock];
        (home.slot, home.shard)
    }

    /// The locks that a shard has, or is about to have or to give away.
    pub(crate) fn at(&self, shard: usize) -> Vec<usize> {
        let all = self.all();
        let is_at = |home: &Home| home.shard == shard || home.moves_to == Some(shard);
        let homes = all.iter().enumerate().filter(|(_, home)| is_at(home));
        homes.map(|(lock, _)| lock).collect()
    }

    /// The name of a lock of a shard, in a slot that never moves; no node takes it.
    pub(crate) fn probe(&self, shard: usize) -> String {
        let names = (0..).map(|number| format!("probe:{number}"));
        let is_there = |name: &String| {
            let slot = slot_of(&key_named(name));
            first_shard(slot, self.shards) == shard && self.in_slot(slot).is_empty()
        };
        let mut names = names.filter(is_there);
        names.next().expect("there are many slots")
    }

    /// The locks of a slot.
    pub(crate) fn in_slot(&self, slot: u16) -> Vec<usize> {
        let all = self.all();
        let homes = all.iter().enumerate().filter(|(_, home)| home.slot == slot);
        homes.map(|(lock, _)| lock).collect()
    }

    /// A slot begins to move, or stays.
    pub(crate) fn moves(&self, slot: u16, to: Option<usize>) {
        for home in self.all().iter_mut().filter(|home| home.slot == slot) {
            home.moves_to = to;
        }
    }

    /// A slot has moved.
    pub(crate) fn moved(&self, slot: u16, to: usize) {
        for home in self.all().iter_mut().filter(|home| home.slot == slot) {
            home.shard = to;
            home.moves_to = None;
        }
    }
}
