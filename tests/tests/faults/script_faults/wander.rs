//! Random states.

use dlock_tests::{Pieces, Stage};
use fastrand::Rng;

use crate::script_faults::actor::{ACTORS, Act};
use crate::script_faults::world::World;

/// Where a random walk of some steps ends.
pub(crate) fn wander(stage: &Stage, seed: u64, pieces: Pieces) -> World {
    let mut rng = Rng::with_seed(seed);
    let mut world = World::new(&format!("wander-{seed}"), pieces);
    world.publish = ["S", "S", "s", "p", "L", "R", ""][rng.usize(..7)];
    let steps = rng.usize(5..40);
    for step in 0..steps {
        let any = rng.usize(..ACTORS);
        let holders = world.believers();
        let holder = rng.choice(&holders).copied().unwrap_or(any);
        let act = match rng.u32(..22) {
            0..11 => Act::Wait(any),
            11 => Act::Try(any),
            12..14 => Act::Release(holder),
            14 => Act::ReleaseStray(holder),
            15 => Act::Abandon(any),
            16 => Act::AbandonStray(any),
            17 => Act::Renew(holder),
            20 => Act::Raise(holder),
            21 => Act::RaiseFar(holder),
            _ => Act::Yield(holder),
        };
        world
            .play(stage, act, None)
            .unwrap_or_else(|why| panic!("seed {seed}, step {step}: {act:?}: {why}"));
        match rng.u32(..10) {
            0 => world.deaf = vec![format!("client-{}/00", rng.u32(..3))],
            1 => world.deaf.clear(),
            2 => world.pass(rng.u64(1_000_000..5_000_000)),
            _ => world.pass(rng.u64(1..200_000)),
        }
    }
    world
}
