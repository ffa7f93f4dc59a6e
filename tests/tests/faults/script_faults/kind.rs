//! What differs by kind of lock.

use std::fmt::Debug;
use std::sync::Arc;

use dlock::{LockKey, LockMode};
use dlock_tests::Stage;

use crate::script_faults::act::Act;
use crate::script_faults::world::World;

/// Makes an act of an acquisition.
pub(crate) type Make = fn(usize) -> Act;

/// Until when something is needed in the server's record, and until when anything in it is of use; in the server's time.
pub(crate) struct Ends {
    pub(crate) needed: u64,
    pub(crate) latest: u64,
}

/// A kind of lock: its clients, and what its record says.
pub(crate) trait Kind: Copy + Debug + 'static {
    const NAME: &'static str;

    /// What the hash says.
    type Record;

    /// How many acquisitions there are.
    const ACTORS: usize;
    /// Hand-made states: a name, and how to come there.
    const SCENES: &'static [(&'static str, &'static [Act])];
    /// What a holder may do that is worth trying.
    const OF_HOLDER: &'static [Make];
    /// What holders do on a random walk.
    const WALK: &'static [Make];

    /// The lock, as this actor names it.
    fn key(actor: Option<usize>, prefix: &str, name: &str) -> LockKey;

    fn mode(actor: usize) -> LockMode;

    fn owner(actor: usize) -> Option<Arc<str>>;

    /// Whether the actor's holds may linger.
    fn lingers(_actor: usize) -> bool {
        false
    }

    /// Whether the token of a new grant to the actor is in order; if it has one, it is noted.
    fn take_token(world: &mut World<Self>, actor: usize, token: u64) -> Result<(), String>;

    /// Whether the request goes the quick way first.
    fn is_plain(world: &World<Self>, act: Act) -> bool;

    fn record(world: &World<Self>) -> Result<Self::Record, String>;

    /// Until when the actor holds the lock by what is recorded, in the lock's time.
    fn recorded(world: &World<Self>, record: &Self::Record, actor: usize) -> Option<u64>;

    /// The lock's time.
    fn now(world: &World<Self>, record: &Self::Record) -> u64;

    /// What must hold of the record itself.
    fn check(world: &World<Self>, record: &Self::Record) -> Result<Ends, String>;

    /// All have come and gone: nothing may be left but what is remembered of a free lock.
    fn finish(stage: &Stage, world: &mut World<Self>) -> Result<(), String>;

    /// A state like this one that only this kind of lock has.
    fn variant(_world: &World<Self>) -> Option<World<Self>> {
        None
    }
}
