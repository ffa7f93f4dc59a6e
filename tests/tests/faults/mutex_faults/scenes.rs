//! Hand-made states of a mutex.

use dlock_tests::{Pieces, Stage};

use crate::mutex_faults::act::Act::{
    self, AbandonStray, EndStray, Release, ReleaseStray, Take, Try, Wait,
};
use crate::mutex_faults::world::World;

/// A name, and how to come there; even actors need tokens, actor 1 tries a plain `SET` first.
type Scene = (&'static str, &'static [Act]);

const SCENES: &[Scene] = &[
    ("a mutex that nobody knows", &[]),
    ("a free mutex that is remembered", &[Try(0), Release(0)]),
    ("a hold with a token", &[Try(0)]),
    ("a hold by a plain SET", &[Try(1)]),
    (
        "a plain hold of a remembered mutex",
        &[Try(0), Release(0), Try(1)],
    ),
    (
        "a plain hold beside a tombstone",
        &[AbandonStray(2), Try(1)],
    ),
    ("a free mutex with a tombstone", &[Try(0), ReleaseStray(0)]),
    ("a foreign hold", &[Take]),
    (
        "a foreign hold of a remembered mutex",
        &[Try(0), Release(0), Take],
    ),
    ("two wait for a foreign hold", &[Take, Wait(0), Wait(1)]),
    ("one waits for a token", &[Try(1), Wait(2)]),
    (
        "from holder to holder",
        &[Try(0), Wait(1), Wait(2), Wait(4)],
    ),
    (
        "one has been let in",
        &[Try(0), Wait(1), Wait(2), Release(0)],
    ),
    ("one waits who is not heard of", &[Try(0), Wait(3), Wait(4)]),
    (
        "a hold that ends by itself",
        &[Try(0), EndStray(0), Wait(2)],
    ),
    (
        "a plain hold that ends by itself",
        &[Try(1), EndStray(1), Wait(3)],
    ),
];

/// All of them: as they are, with clients that do not hear, in pieces, after a while, and when it is time to leave the
/// mutex to others.
pub(crate) fn all(stage: &Stage) -> Vec<(&'static str, World)> {
    let mut worlds = Vec::new();
    for (name, acts) in SCENES {
        for variant in 0..6 {
            let pieces = if variant == 2 {
                Pieces::OfTwo
            } else {
                Pieces::Whole
            };
            let mut world = World::new(name, pieces);
            for act in *acts {
                let played = world.play(stage, *act, None);
                played.unwrap_or_else(|why| panic!("{name}: {why}"));
                world.pass(1_000);
            }
            match variant {
                1 => {
                    world.deaf = vec![
                        "client-2/0000000000000000".to_owned(),
                        "client-1/0000000000000000".to_owned(),
                    ];
                }
                2 => world.deaf = vec!["client-0/0000000000000000".to_owned()],
                // The places are over, and the first leases.
                3 => world.pass(4_850_000),
                4 => world.publish = "L",
                5 if world.fields.contains_key("p") => {
                    let seen = "1 1 somebody".to_owned();
                    world.fields.insert("b".to_owned(), seen);
                }
                5 => continue,
                _ => {}
            }
            worlds.push((*name, world));
        }
    }
    worlds
}
