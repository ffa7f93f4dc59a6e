//! Whatever command of a script a server refuses, and for whatever reason: no client has been told of a grant that is
//! not recorded, no client that believes to hold the lock is wrong, no other program's hold is freed, and the lock is of use
//! again when leases are over. Late requests of mutexes have no effect. (`late_requests` shows that of read/write locks.)
//!
//! `DLOCK_FAULT_STATES` asks for more random states.

mod act;
mod beliefs;
mod drain;
mod faults;
mod kind;
mod late;
mod mutex;
mod rw;
mod scenes;
mod wander;
mod world;

use std::collections::HashSet;
use std::io::Write as _;
use std::time::Instant;

use dlock_tests::{Fault, Stage, shared_server};
use tokio::runtime::Runtime;

use self::act::Act;
use self::kind::Kind;
use self::mutex::Mutex;
use self::rw::ReadWrite;
use self::world::World;

/// How many random states are tried at least.
const STATES: u64 = 14;

#[test]
fn a_refused_command_leaves_nothing_worse_than_a_hold_until_its_lease_ends() {
    in_scenes::<ReadWrite>();
}

#[test]
fn a_refused_command_of_a_mutex_leaves_nothing_worse_than_a_hold_until_its_lease_ends() {
    in_scenes::<Mutex>();
}

#[test]
fn neither_does_it_in_any_other_state() {
    in_random_states::<ReadWrite>();
}

#[test]
fn neither_does_it_in_any_other_state_of_a_mutex() {
    in_random_states::<Mutex>();
}

/// A replica that missed the last script may become master: what was told before is then not recorded any more.
/// Only a check of tokens shows that, so these must be larger from then on.
#[test]
fn after_a_failover_that_lost_a_grant_tokens_are_larger() {
    let stage = stage();
    let largest = |world: &World<_>| world.tokens.iter().max().copied();
    for (name, world) in scenes::all::<ReadWrite>(&stage) {
        for act in world.acts() {
            let mut told = world.clone();
            told.restore(&stage);
            told.play(&stage, act, None)
                .unwrap_or_else(|why| panic!("{name}: {act:?}: {why}"));
            let mut lost = world.clone();
            lost.restore(&stage);
            // By then the clock has gone on, and the lock is free or becomes so.
            lost.pass(60_000_000);
            lost.believers.clear();
            lost.play(&stage, Act::Try(0), None)
                .unwrap_or_else(|why| panic!("{name}: {act:?}: {why}"));
            assert!(largest(&lost) > largest(&told), "{name}: {act:?}");
        }
    }
}

#[test]
fn late_requests_of_a_mutex_have_no_effect_in_any_order() {
    let (stage, start) = (stage(), Instant::now());
    let mut late = late::Late::default();
    for (name, world) in scenes::all(&stage) {
        late.enumerate(&stage, &world)
            .unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    let _ = writeln!(
        std::io::stderr(),
        "{} late requests of mutexes, {:.1} s: without effect",
        late.delivered,
        start.elapsed().as_secs_f64()
    );
}

fn stage() -> Stage {
    Stage::on(Runtime::new().expect("a runtime").block_on(shared_server()))
}

fn in_scenes<K: Kind>() {
    let stage = stage();
    let mut trial = Trial::default();
    for (name, world) in scenes::all::<K>(&stage) {
        trial.inject(&stage, name, &world);
    }
    trial.report::<K>("hand-made states");
}

fn in_random_states<K: Kind>() {
    let stage = stage();
    let states =
        std::env::var("DLOCK_FAULT_STATES").map_or(STATES, |text| text.parse().expect("a number"));
    let mut trial = Trial::default();
    for seed in 0..states {
        let world = wander::wander::<K>(&stage, seed);
        trial.inject(&stage, &format!("state {seed}"), &world);
    }
    trial.report::<K>("random states");
}

/// What was tried.
struct Trial {
    start: Instant,
    states: u64,
    faults: u64,
    drains: HashSet<u64>,
}

impl Default for Trial {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            states: 0,
            faults: 0,
            drains: HashSet::new(),
        }
    }
}

impl Trial {
    /// Every operation of a state with every fault.
    fn inject<K: Kind>(&mut self, stage: &Stage, name: &str, world: &World<K>) {
        self.states += 1;
        for act in world.acts() {
            let mut number = 1;
            loop {
                let mut reached = false;
                for fault in faults::at(number) {
                    let describe =
                        |why| format!("{name}: {act:?} with {fault:?}: {why}\n{world:?}");
                    reached |= self
                        .inject_one(stage, world, act, &fault)
                        .map_err(describe)
                        .unwrap_or_else(|why| panic!("{why}"));
                }
                if !reached {
                    break;
                }
                number += 1;
            }
        }
    }

    /// Whether the script got as far as the fault.
    fn inject_one<K: Kind>(
        &mut self,
        stage: &Stage,
        world: &World<K>,
        act: Act,
        fault: &Fault<'static>,
    ) -> Result<bool, String> {
        let mut world = world.clone();
        world.restore(stage);
        let calls = world.play(stage, act, Some(*fault))?;
        if calls < fault.from {
            return Ok(false);
        }
        self.faults += 1;
        // A client that got no answer to an acquire sends it again, or gives it up.
        if let (Act::Wait(actor) | Act::Try(actor), 1) = (act, fault.from % 2) {
            world.play(stage, Act::AbandonStray(actor), None)?;
        }
        // Equal outcomes go on in equal ways.
        if self.drains.insert(world.fingerprint()) {
            drain::drain(stage, &mut world)?;
        }
        Ok(true)
    }

    /// Not captured: how much was tried belongs to the result.
    fn report<K: Kind>(&self, what: &str) {
        let _ = writeln!(
            std::io::stderr(),
            "{} faults in {} {what} of {}, {} different outcomes, {:.1} s: nothing worse than expected",
            self.faults,
            self.states,
            K::NAME,
            self.drains.len(),
            self.start.elapsed().as_secs_f64()
        );
    }
}
