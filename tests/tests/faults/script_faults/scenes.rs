//! Hand-made states.

use dlock_tests::{Pieces, Stage};

use crate::script_faults::act::client;
use crate::script_faults::kind::Kind;
use crate::script_faults::world::World;

/// All of them: as they are, with clients that do not hear, in pieces, after a while, and where nothing says how many hear.
pub(crate) fn all<K: Kind>(stage: &Stage) -> Vec<(&'static str, World<K>)> {
    let mut worlds = Vec::new();
    for (name, acts) in K::SCENES {
        let played = |pieces| {
            let mut world = World::<K>::new(name, pieces);
            for act in *acts {
                let played = world.play(stage, *act, None);
                played.unwrap_or_else(|why| panic!("{name}: {why}"));
                world.pass(1_000);
            }
            world
        };
        let world = played(Pieces::Whole);
        worlds.extend(K::variant(&world).map(|variant| (*name, variant)));
        // The heads of the lines are deaf.
        let mut deaf = world.clone();
        deaf.deaf = vec![client(2), client(1)];
        let mut in_pieces = played(Pieces::OfTwo);
        in_pieces.deaf = vec![client(0)];
        // The places are over, and the first leases.
        let mut late = world.clone();
        late.pass(4_850_000);
        let mut unheard_of = world.clone();
        unheard_of.publish = "L";
        worlds.extend([world, deaf, in_pieces, late, unheard_of].map(|world| (*name, world)));
    }
    worlds
}
