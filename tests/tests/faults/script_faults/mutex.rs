//! Mutexes, which programs of other languages take as well.

use std::sync::Arc;

use dlock::__internals::mutex_key;
use dlock::{LockKey, LockKind, LockMode};
use dlock_tests::{MutexRecord, Stage, Strictness};

use crate::script_faults::act::Act::{
    self, Abandon, AbandonStray, End, EndStray, Free, Release, ReleaseStray, Renew, Take, Try, Wait,
};
use crate::script_faults::act::{LEASE, id};
use crate::script_faults::kind::{Ends, Kind, Make};
use crate::script_faults::world::World;

/// Even actors need tokens, actor 1 tries a plain `SET` first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mutex;

fn kind(actor: usize) -> LockKind {
    if actor.is_multiple_of(2) {
        LockKind::FencedMutex
    } else {
        LockKind::Mutex
    }
}

impl Kind for Mutex {
    const NAME: &'static str = "mutexes";

    type Record = MutexRecord;

    const ACTORS: usize = 6;

    const SCENES: &'static [(&'static str, &'static [Act])] = &[
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

    const OF_HOLDER: &'static [Make] =
        &[Release, ReleaseStray, Abandon, End, EndStray, Renew, Wait];

    const WALK: &'static [Make] = &[
        Release,
        Release,
        ReleaseStray,
        Renew,
        End,
        |_| Take,
        |_| Free,
    ];

    fn key(actor: Option<usize>, prefix: &str, name: &str) -> LockKey {
        mutex_key(kind(actor.unwrap_or(0)), prefix, name).expect("a valid name")
    }

    fn mode(_actor: usize) -> LockMode {
        LockMode::Write
    }

    fn owner(_actor: usize) -> Option<Arc<str>> {
        None
    }

    fn take_token(world: &mut World<Self>, actor: usize, token: u64) -> Result<(), String> {
        if kind(actor).has_tokens() {
            let others = (0..Self::ACTORS).filter(|other| *other != actor);
            let largest = others.map(|other| world.tokens[other]).max().unwrap_or(0);
            if token <= largest || token < world.tokens[actor] {
                return Err(format!("{token} after {:?}", world.tokens));
            }
            world.tokens[actor] = token;
        }
        Ok(())
    }

    /// No client asks anew by an id that was given up; a plain `SET` does not notice that it was.
    fn is_plain(world: &World<Self>, act: Act) -> bool {
        act.actor() == Some(1) && !world.fields.contains_key(&format!("-{}", id::<Self>(1)))
    }

    fn record(world: &World<Self>) -> Result<MutexRecord, String> {
        MutexRecord::read(&world.fields, Strictness::Aborted, world.time)
    }

    fn recorded(world: &World<Self>, _record: &MutexRecord, actor: usize) -> Option<u64> {
        let held = world.held.as_ref()?;
        let until = held
            .until
            .filter(|_| held.value == id::<Self>(actor).to_string())?;
        Some(1000 * until)
    }

    fn now(world: &World<Self>, _record: &MutexRecord) -> u64 {
        world.time
    }

    fn check(world: &World<Self>, record: &MutexRecord) -> Result<Ends, String> {
        let live = |held: &&dlock_tests::Held| held.is_live(world.time);
        if let Some(foreign) = world.foreign.as_ref().filter(live)
            && world.held.as_ref() != Some(foreign)
        {
            return Err(format!("{foreign:?} has become {:?}", world.held));
        }
        if let Some(held) = &world.held
            && held
                .until
                .is_none_or(|until| until > world.time / 1000 + LEASE)
        {
            return Err(format!("{held:?} stays for too long"));
        }
        let fenced = world.believers.iter();
        let fenced = fenced.filter(|(actor, _)| kind(**actor).has_tokens());
        let places = record.beside.writers.places.values();
        let latest = places.map(|place| place.deadline).max().unwrap_or(0);
        let held = world.held.as_ref().and_then(|held| held.until).unwrap_or(0);
        Ok(Ends {
            needed: fenced.map(|(_, until)| *until).max().unwrap_or(0),
            latest: latest.max(world.time).max(1000 * held) + 1000 * LEASE,
        })
    }

    fn finish(_stage: &Stage, world: &mut World<Self>) -> Result<(), String> {
        // What was left to itself has an end.
        world.pass(1000 * LEASE);
        // A client that had the mutex by a plain `SET`, and a place, leaves the place to its end.
        let places = Self::record(world)?.beside.writers.places;
        let waits = places.values().any(|place| place.deadline > world.time);
        if world.held.is_some() || waits {
            return Err(format!("something is left: {world:?}"));
        }
        if world.for_ever {
            return Err("a hash without an expiry was not mended".to_owned());
        }
        Ok(())
    }

    /// It is time to leave the mutex to others.
    fn variant(world: &World<Self>) -> Option<World<Self>> {
        let is_remembered = world.fields.contains_key("p");
        is_remembered.then(|| {
            let mut variant = world.clone();
            let seen = "1 1 somebody".to_owned();
            variant.fields.insert("b".to_owned(), seen);
            variant
        })
    }
}
