//! What comes after a fault, or after late requests.

use std::array::from_fn;

use dlock_tests::Stage;

use crate::mutex_faults::act::{ACTORS, Act};
use crate::mutex_faults::world::World;

/// All clients come and go: in the end each has had the mutex, and nothing is left of it that keeps a client out.
pub(crate) fn drain(stage: &Stage, world: &mut World) -> Result<(), String> {
    world.deaf.clear();
    world.restore(stage);
    world.play(stage, Act::Free, None)?;
    // A client that has left a hold to its lease does not ask for it again.
    let mut served: [bool; ACTORS] = from_fn(|actor| world.ended.contains(&actor));
    for _ in 0..40 {
        let believers: Vec<usize> = world.believers.keys().copied().collect();
        for actor in believers {
            served[actor] = true;
            world.play(stage, Act::Release(actor), None)?;
        }
        for (actor, served) in served.iter_mut().enumerate() {
            if !*served && !world.believers.contains_key(&actor) {
                world.play(stage, Act::Wait(actor), None)?;
            }
        }
        if served.iter().all(|served| *served) {
            break;
        }
        world.pass(500_000);
    }
    let unserved: Vec<usize> = (0..ACTORS).filter(|actor| !served[*actor]).collect();
    if !unserved.is_empty() {
        return Err(format!("never served: {unserved:?}\n{world:?}"));
    }
    for actor in world.waiting.clone() {
        world.play(stage, Act::Abandon(actor), None)?;
    }
    // What was left to itself has an end.
    world.pass(5_000_000);
    // A client that had the mutex by a plain `SET`, and a place, leaves the place to its end.
    let places = world.record()?.beside.writers.places;
    let waits = places.values().any(|place| place.deadline > world.time);
    if world.held.is_some() || waits {
        return Err(format!("something is left: {world:?}"));
    }
    if world.for_ever {
        return Err("a hash without an expiry was not mended".to_owned());
    }
    Ok(())
}
