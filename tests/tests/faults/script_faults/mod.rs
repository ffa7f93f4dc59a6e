//! Whatever command of a script a server refuses, and for whatever reason: no client has been told of a grant that is
//! not recorded, no client that believes to hold the lock is wrong, and the lock is of use again when leases are over.
//!
//! `DLOCK_FAULT_STATES` asks for more random states.

mod actor;
mod drain;
pub(crate) mod faults;
mod judge;
mod scenes;
mod wander;
mod world;

use std::collections::HashSet;
use std::io::Write as _;
use std::time::Instant;

use dlock_tests::{Fault, Pieces, Stage, shared_server};
use tokio::runtime::Runtime;

use self::actor::Act;
use self::world::World;

/// How many random states are tried at least.
const STATES: u64 = 14;

#[test]
fn a_refused_command_leaves_nothing_worse_than_a_hold_until_its_lease_ends() {
    let stage = stage();
    let mut trial = Trial::default();
    for (name, world) in scenes::all(&stage) {
        trial.inject(&stage, name, &world);
    }
    trial.report("hand-made states");
}

#[test]
fn neither_does_it_in_any_other_state() {
    let stage = stage();
    let states =
        std::env::var("DLOCK_FAULT_STATES").map_or(STATES, |text| text.parse().expect("a number"));
    let mut trial = Trial::default();
    for seed in 0..states {
        let pieces = if seed % 2 == 0 {
            Pieces::Whole
        } else {
            Pieces::OfTwo
        };
        let world = wander::wander(&stage, seed, pieces);
        trial.inject(&stage, &format!("state {seed}"), &world);
    }
    trial.report("random states");
}

/// A replica that missed the last script may become master: what was told before is then not recorded any more.
/// Only a check of tokens shows that, so these must be larger from then on.
#[test]
fn after_a_failover_that_lost_a_grant_tokens_are_larger() {
    let stage = stage();
    for (name, world) in scenes::all(&stage) {
        for act in world.acts() {
            let mut told = world.clone();
            told.restore(&stage);
            told.play(&stage, act, None)
                .unwrap_or_else(|why| panic!("{name}: {act:?}: {why}"));
            let named = told.largest_token();
            let mut lost = world.clone();
            lost.restore(&stage);
            // By then the clock has gone on, and the lock is free or becomes so.
            lost.pass(60_000_000);
            lost.forget_beliefs();
            lost.play(&stage, Act::Try(0), None)
                .unwrap_or_else(|why| panic!("{name}: {act:?}: {why}"));
            assert!(lost.largest_token() > named, "{name}: {act:?}");
        }
    }
}

fn stage() -> Stage {
    Stage::on(Runtime::new().expect("a runtime").block_on(shared_server()))
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
    fn inject(&mut self, stage: &Stage, name: &str, world: &World) {
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
    fn inject_one(
        &mut self,
        stage: &Stage,
        world: &World,
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

    fn report(&self, what: &str) {
        // Not captured: how much was tried belongs to the result.
        let _ = writeln!(
            std::io::stderr(),
            "{} faults in {} {what}, {} different outcomes, {:.1} s: nothing worse than expected",
            self.faults,
            self.states,
            self.drains.len(),
            self.start.elapsed().as_secs_f64()
        );
    }
}
