//! Read/write locks.

use std::sync::Arc;

use dlock::__internals::lock_key;
use dlock::{LockKey, LockMode};
use dlock_tests::{Record, Stage, Strictness};

use crate::script_faults::act::Act::{
    self, Abandon, AbandonStray, End, EndStray, Raise, RaiseFar, Release, ReleaseStray, Renew, Try,
    Wait, Yield,
};
use crate::script_faults::act::id;
use crate::script_faults::kind::{Ends, Kind, Make};
use crate::script_faults::world::World;

/// So many void fields are removed by a client that finds a free lock.
const FEW: usize = 4;

/// Even actors write, odd ones read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadWrite;

impl Kind for ReadWrite {
    const NAME: &'static str = "read/write locks";

    type Record = Record;

    const ACTORS: usize = 8;

    const SCENES: &'static [(&'static str, &'static [Act])] = &[
        ("a lock that nobody knows", &[]),
        ("a free lock", &[Try(0), Release(0)]),
        ("the only hold", &[Try(0)]),
        ("the only read hold", &[Try(1)]),
        ("the only hold, which lingers", &[Try(2)]),
        ("a writer waits for a lingering writer", &[Try(2), Wait(0)]),
        (
            "a writer waits for readers that linger",
            &[Try(1), Try(3), Wait(0)],
        ),
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

    const OF_HOLDER: &'static [Make] = &[
        Release,
        ReleaseStray,
        Abandon,
        End,
        EndStray,
        Raise,
        RaiseFar,
        Yield,
        Renew,
        Wait,
    ];

    const WALK: &'static [Make] = &[
        Release,
        Release,
        ReleaseStray,
        Renew,
        Yield,
        Yield,
        Yield,
        Raise,
        RaiseFar,
    ];

    fn key(_actor: Option<usize>, prefix: &str, name: &str) -> LockKey {
        lock_key(prefix, name).expect("a valid name")
    }

    fn mode(actor: usize) -> LockMode {
        if actor.is_multiple_of(2) {
            LockMode::Write
        } else {
            LockMode::Read
        }
    }

    /// Two have an owner in common, another one is its own.
    fn owner(actor: usize) -> Option<Arc<str>> {
        match actor {
            4 | 5 => Some("a".into()),
            7 => Some(id::<Self>(0).to_string().into()),
            _ => None,
        }
    }

    fn lingers(actor: usize) -> bool {
        matches!(actor, 2 | 3)
    }

    /// Readers share tokens, and an owner's holds do.
    fn take_token(world: &mut World<Self>, actor: usize, token: u64) -> Result<(), String> {
        world.tokens[actor] = token;
        Ok(())
    }

    fn is_plain(_world: &World<Self>, act: Act) -> bool {
        matches!(act, Release(actor) if actor % 4 < 2)
    }

    fn record(world: &World<Self>) -> Result<Record, String> {
        Record::read(&world.fields, Strictness::Aborted, world.time)
    }

    fn recorded(_world: &World<Self>, record: &Record, actor: usize) -> Option<u64> {
        let hold = record.holds.get(&id::<Self>(actor).to_string())?;
        (hold.mode == Self::mode(actor)).then_some(hold.deadline)
    }

    fn now(world: &World<Self>, record: &Record) -> u64 {
        record.now(world.time)
    }

    fn check(world: &World<Self>, record: &Record) -> Result<Ends, String> {
        if let Some(conflict) = record.conflict(record.now(world.time)) {
            return Err(format!("two hold: {conflict:?}"));
        }
        let lines = [&record.writers, &record.readers];
        let places = lines.into_iter().flat_map(|line| line.places.values());
        let holds = record.holds.values().map(|hold| hold.deadline);
        let latest = holds.chain(places.map(|place| place.deadline)).max();
        // Of those who know of it: what was recorded before the fault may go with the key.
        let needed = world.believers.values().copied().max();
        let on_the_server =
            |deadline: Option<u64>| deadline.unwrap_or(0).saturating_sub(record.offset);
        Ok(Ends {
            needed: on_the_server(needed),
            latest: on_the_server(latest),
        })
    }

    fn finish(stage: &Stage, world: &mut World<Self>) -> Result<(), String> {
        let record = Self::record(world)?;
        let lines = [&record.writers, &record.readers];
        if !record.holds.is_empty() || lines.iter().any(|line| !line.places.is_empty()) {
            return Err(format!("something is left: {world:?}"));
        }
        // A client that finds a free lock removes the leftovers of an aborted script, unless there are many: then they go
        // with the key.
        for _ in 0..2 {
            world.play(stage, Try(0), None)?;
            world.play(stage, Release(0), None)?;
        }
        let voids = Self::record(world)?.voids;
        if !voids.is_empty() && record.voids.len() <= FEW {
            return Err(format!("void fields are left: {voids:?}"));
        }
        Ok(())
    }
}
