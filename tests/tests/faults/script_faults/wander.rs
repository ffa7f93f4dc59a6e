//! Random states.

use dlock_tests::{Pieces, Stage};
use fastrand::Rng;

use crate::script_faults::act::{Act, client};
use crate::script_faults::kind::Kind;
use crate::script_faults::world::World;

/// Where a random walk of some steps ends.
pub(crate) fn wander<K: Kind>(stage: &Stage, seed: u64) -> World<K> {
    let pieces = if seed.is_multiple_of(2) {
        Pieces::Whole
    } else {
        Pieces::OfTwo
    };
    let mut rng = Rng::with_seed(seed);
    let mut world = World::new(&format!("wander-{seed}"), pieces);
    world.publish = ["S", "S", "s", "p", "L", "R", ""][rng.usize(..7)];
    let steps = rng.usize(5..40);
    for step in 0..steps {
        // A client that has left a hold to its lease does not ask for it again.
        let askers = (0..K::ACTORS).filter(|actor| !world.ended.contains(actor));
        let Some(any) = rng.choice(askers.collect::<Vec<_>>()) else {
            break;
        };
        let holders: Vec<usize> = world.believers.keys().copied().collect();
        let holder = rng.choice(holders).unwrap_or(any);
        let act = match rng.u32(..22) {
            0..11 => Act::Wait(any),
            11 => Act::Try(any),
            12 => Act::Abandon(any),
            13 => Act::AbandonStray(any),
            _ => K::WALK[rng.usize(..K::WALK.len())](holder),
        };
        world
            .play(stage, act, None)
            .unwrap_or_else(|why| panic!("seed {seed}, step {step}: {act:?}: {why}"));
        match rng.u32(..10) {
            0 => world.deaf = vec![client(rng.usize(..3))],
            1 => world.deaf.clear(),
            2 => world.pass(rng.u64(1_000_000..5_000_000)),
            _ => world.pass(rng.u64(1..200_000)),
        }
    }
    world
}
