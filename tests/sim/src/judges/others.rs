//! Whose hold the text of a mutex is: no other program takes it away, puts another in its place, or says when it ends. Judged by
//! what stands there before and after each request.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, BuildHasherDefault};

use memchr::memmem;
use rustc_hash::FxHasher;

use super::Judges;
use super::belief::Belief;
use super::guard::Guard;
use super::home::process_of;
use crate::engine::{Engine, ProcId};
use crate::server::{NodeId, Role};

/// The programs without dlock, and the value before a request.
#[derive(Debug, Default)]
pub(super) struct Others {
    foreign: BTreeSet<ProcId>,
    before: Vec<Before>,
}

/// A mutex before a request.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) lock: usize,
    pub(super) hold: Option<Hold>,
    /// Whether it is left free for a moment.
    pub(super) is_moment: bool,
    /// Whether the server knows since when it has been passed on.
    pub(super) is_remembered: bool,
    /// How many places there are in its line.
    pub(super) places: usize,
}

/// Whose text it is, and when it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hold {
    pub(super) id: String,
    expires: Option<u64>,
    /// Whether it is a late copy of a request that was settled without it.
    settled: bool,
}

/// For how long a mutex is left free at most, in us.
const MOMENT: u64 = 150_000;

impl Others {
    /// Whether a process has no dlock.
    pub(super) fn are(&self, of: ProcId) -> bool {
        self.foreign.contains(&of)
    }
}

impl Judges {
    /// A process starts that has no dlock.
    pub(crate) fn is_foreign(&self, of: ProcId) {
        self.others.borrow_mut().foreign.insert(of);
    }

    /// The facts of a hold that are the same for all tasks that it is passed on to in a process.
    pub(super) fn named(&self, engine: &Engine, belief: &Belief, guard: &Guard) -> Option<u64> {
        let home = &self.homes[belief.lock];
        // A master that was deposed may have another.
        let of_text = || {
            let now = engine.time();
            engine.fleet(|fleet| {
                let masters = fleet
                    .nodes()
                    .filter(|node| fleet.role(*node) == Role::Master);
                let texts = masters
                    .filter_map(|node| home.text(fleet, node, fleet.server_micros(now, node)));
                let mut own = texts.filter(|(id, _)| process_of(id) == Some(belief.of));
                let (id, _) = own.next()?;
                let hash = BuildHasherDefault::<FxHasher>::default().hash_one(id);
                let other = own.find(|(other, _)| !self.is_quorum() || *other != id);
                other.is_none().then_some(hash)
            })
        };
        guard.named().or_else(of_text)
    }

    /// A server is about to carry out a request.
    pub(crate) fn look_before(&self, engine: &Engine, node: NodeId, request: &[u8]) {
        let mut others = self.others.borrow_mut();
        others.before.clear();
        for (lock, home) in self.homes.iter().enumerate() {
            if !home.is_mutex() || home.count(request) == 0 {
                continue;
            }
            let hold = self.hold_of(engine, lock, node);
            let is_moment = hold.is_none() && self.is_moment(engine, lock, node);
            let is_remembered = engine.fleet(|fleet| {
                let micros = fleet.server_micros(engine.time(), node);
                home.remembers(fleet, node, micros)
            });
            others.before.push(Before {
                lock,
                hold,
                is_moment,
                is_remembered,
                places: self.places_of(engine, lock, node),
            });
        }
    }

    fn hold_of(&self, engine: &Engine, lock: usize, node: NodeId) -> Option<Hold> {
        let (home, now) = (&self.homes[lock], engine.time());
        engine.fleet(|fleet| {
            let micros = fleet.server_micros(now, node);
            let (id, expires) = home.text(fleet, node, micros)?;
            let settled = home.field(fleet, node, format!("-{id}").as_bytes());
            Some(Hold {
                id: id.to_owned(),
                expires,
                settled: settled.is_some_and(|until| until > micros),
            })
        })
    }

    fn is_moment(&self, engine: &Engine, lock: usize, node: NodeId) -> bool {
        let now = engine.time();
        let (until, micros) = engine.fleet(|fleet| {
            let until = self.homes[lock].field(fleet, node, b"q");
            (until.unwrap_or(0), fleet.server_micros(now, node))
        });
        until > micros && until <= micros + MOMENT
    }

    /// It has.
    pub(crate) fn look_after(&self, engine: &Engine, of: ProcId, node: NodeId, request: &[u8]) {
        let all = std::mem::take(&mut self.others.borrow_mut().before);
        if !engine.fleet(|fleet| fleet.is_alive(node)) {
            return; // It has died of it.
        }
        for before in all {
            let hold = self.hold_of(engine, before.lock, node);
            if !self.is_quorum() {
                self.look_at_moment(engine, &before, hold.as_ref(), request);
                self.look_at_mark(engine, &before, hold.as_ref(), node);
            }
            let Some(was) = before.hold else { continue };
            let is = hold.map(|hold| (hold.id, hold.expires));
            let same = is
                .as_ref()
                .is_some_and(|is| *is == (was.id.clone(), was.expires));
            let own = memmem::find(request, was.id.as_bytes()).is_some();
            if !same && !own && !was.settled {
                let story = format!(
                    "p{} has changed the hold {} of mutex {} to {is:?}",
                    of.0, was.id, before.lock
                );
                self.object("others", engine.now(), story);
            }
        }
    }
}
