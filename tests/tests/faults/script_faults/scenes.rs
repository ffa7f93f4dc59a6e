//! Hand-made states.

use dlock_tests::{Pieces, Stage};

use crate::script_faults::actor::Act::{
    self, AbandonStray, EndStray, Raise, RaiseFar, Release, ReleaseStray, Try, Wait, Yield,
};
use crate::script_faults::world::World;

/// A name, and how to come there; even actors write, odd ones read.
type Scene = (&'static str, &'static [Act]);

const SCENES: &[Scene] = &[
    ("a lock that nobody knows", &[]),
    ("a free lock", &[Try(0), Release(0)]),
    ("the only hold", &[Try(0)]),
    ("the only read hold", &[Try(1)]),
    ("a free lock with a tombstone", &[Try(0), ReleaseStray(0)]),
    (
        "a hold that ends by itself",
        &[Try(0), EndStray(0), Wait(2)],
    ),
    (
        "the only hold beside a tombstone",
        &[AbandonStray(2), Try(0)],
    ),
    ("from writer to writer", &[Try(0), Wait(2), Wait(6)]),
    ("one writer waits", &[Try(0), Wait(2)]),
    ("from writer to a reader", &[Try(0), Wait(1)]),
    (
        "from writer to readers",
        &[Try(0), Wait(1), Wait(3), Wait(2), Wait(7)],
    ),
    ("readers share", &[Try(1), Try(3), Try(7)]),
    (
        "a writer waits for readers",
        &[Try(1), Try(3), Wait(0), Wait(7)],
    ),
    (
        "the last reader before a writer",
        &[Try(1), Wait(0), Wait(3), Wait(2)],
    ),
    ("an owner's holds", &[Try(5), Try(4), Wait(0)]),
    ("a hold that goes on", &[Try(0), Yield(0), Yield(0)]),
    ("a raised hold", &[Try(0), Raise(0)]),
    ("a hold ahead of the clock", &[Try(0), RaiseFar(0)]),
    (
        "a free lock ahead of the clock",
        &[Try(0), RaiseFar(0), Release(0)],
    ),
    (
        "a reading phase half-way",
        &[
            Try(0),
            Wait(1),
            Wait(3),
            Wait(7),
            Wait(2),
            Release(0),
            Wait(1),
        ],
    ),
];

/// All of them: as they are, with clients that do not hear, in pieces, and after a while.
pub(crate) fn all(stage: &Stage) -> Vec<(&'static str, World)> {
    let mut worlds = Vec::new();
    for (name, acts) in SCENES {
        for variant in 0..5 {
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
                // The heads of the lines are deaf.
                1 => world.deaf = vec!["client-2/00".to_owned(), "client-1/00".to_owned()],
                2 => world.deaf = vec!["client-0/00".to_owned()],
                // The places are over, and the first leases.
                3 => world.pass(4_850_000),
                4 => world.publish = "L",
                _ => {}
            }
            worlds.push((*name, world));
        }
    }
    worlds
}
