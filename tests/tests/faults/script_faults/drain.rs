//! What comes after a fault, or after late requests.

use dlock_tests::Stage;

use crate::script_faults::act::Act;
use crate::script_faults::kind::Kind;
use crate::script_faults::world::World;

/// All clients come and go: in the end each has had the lock, and nothing is left of it that keeps a client out.
pub(crate) fn drain<K: Kind>(stage: &Stage, world: &mut World<K>) -> Result<(), String> {
    world.deaf.clear();
    world.restore(stage);
    if world.foreign.is_some() {
        world.play(stage, Act::Free, None)?;
    }
    // A client that has left a hold to its lease does not ask for it again.
    let mut unserved: Vec<usize> = (0..K::ACTORS)
        .filter(|actor| !world.ended.contains(actor))
        .collect();
    for _ in 0..40 {
        let believers: Vec<usize> = world.believers.keys().copied().collect();
        for actor in believers {
            unserved.retain(|other| *other != actor);
            world.play(stage, Act::Release(actor), None)?;
        }
        for actor in &unserved {
            if !world.believers.contains_key(actor) {
                world.play(stage, Act::Wait(*actor), None)?;
            }
        }
        if unserved.is_empty() {
            break;
        }
        world.pass(500_000);
    }
    if !unserved.is_empty() {
        return Err(format!("never served: {unserved:?}\n{world:?}"));
    }
    for actor in world.waiting.clone() {
        world.play(stage, Act::Abandon(actor), None)?;
    }
    K::finish(stage, world)
}
