//! What comes after a fault.

use std::array::from_fn;

use dlock_tests::Stage;

use crate::script_faults::actor::{ACTORS, Act};
use crate::script_faults::world::World;

/// So many void fields are removed by who finds a free lock.
const FEW: usize = 4;

/// All clients come and go: in the end each has had the lock, and nothing is left of it.
pub(crate) fn drain(stage: &Stage, world: &mut World) -> Result<(), String> {
    world.deaf.clear();
    world.restore(stage);
    // A client that has left a hold to its lease does not ask for it again.
    let mut served: [bool; ACTORS] = from_fn(|actor| world.has_ended(actor));
    for _ in 0..40 {
        for actor in world.believers() {
            served[actor] = true;
            world.play(stage, Act::Release(actor), None)?;
        }
        for (actor, served) in served.iter_mut().enumerate() {
            if !*served && !world.believes(actor) {
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
    for actor in world.waiting() {
        world.play(stage, Act::Abandon(actor), None)?;
    }
    if !world.is_free() {
        return Err(format!("something is left: {world:?}"));
    }
    // A client that finds a free lock removes the leftovers of an aborted script, unless there are many: then it goes
    // with the key.
    let much = world.record()?.voids.len() > FEW;
    for _ in 0..2 {
        world.play(stage, Act::Try(0), None)?;
        world.play(stage, Act::Release(0), None)?;
    }
    let record = world.record()?;
    if !much && !record.voids.is_empty() {
        return Err(format!("void fields are left: {:?}", record.voids));
    }
    Ok(())
}
