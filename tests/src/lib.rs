//! Servers and helpers for the tests of dlock.
//!
//! - [`RedisServer`] and [`RedisCluster`]: real servers on loopback that end with the value, and with
//!   the test process however it ends.
//! - [`Worker`]: another process that can be frozen and killed.
//! - [`FaultProxy`] and [`ProxiedCluster`]: what networks do, on demand.
//! - [`Impostor`]: a server that lies.
//! - [`ProxiedLock`]: a lock behind such a proxy, and the same lock past it.
//! - [`history`]: what several processes saw of locks, judged without the lock's help.
//! - [`Stage`]: the scripts on a real server, with the time, the ears and the faults of a test; [`StagedLock`]: one lock on it.
//! - [`TestClock`]: time that moves when a test says so, for the memory store.
//! - [`house`]: the rooms of `dlock/src`, as `DESIGN.md` has them.
//! - [`wait_until`], [`wait_for`] and [`soon`]: conditions with deadlines in place of sleeps.
//!
//! Everything here panics when it cannot do its work: in a test, that is the error report.
#![expect(
    clippy::missing_panics_doc,
    reason = "the harness fails a test by panicking, everywhere"
)]

mod cluster;

mod feature;
mod folder;
pub mod history;
pub mod house;
mod impostor;
mod locks;
mod port;
mod prefix;
mod process;
mod proxied;
mod proxy;

mod server;
mod slot;
mod stage;
mod test_clock;
mod tool;
mod wait;
mod worker;

pub use cluster::{
    AtomicMigration, ClusterOptions, CommandStats, Moved, RedisCluster, SlotMigration,
    shared_cluster, shared_server,
};
pub use feature::{not_applicable, publish_command, sharded_channels};
pub use history::now_ns;
pub use impostor::{Asked, Impostor, Lie};
pub use locks::{
    builder, connect, its_turn, listening, names_on, queue, slot_of_lock, stores, wait_free,
    wait_listening, wait_waiters,
};
pub use prefix::unique_prefix;
pub use proxied::{Cut, ProxiedLock};
pub use proxy::{Counters, Direction, FaultProxy, Faults, Pattern, ProxiedCluster, request_of};
pub use server::{RedisServer, ServerOptions};
pub use slot::{SLOTS, slot_of};
pub use stage::{
    Fault, Held, Line, Moments, MutexRecord, Outcome, Pieces, Place, Record, RecordedHold, Scene,
    Stage, StagedLock, Strictness, Told,
};
pub use test_clock::TestClock;
pub use tool::dlock_tool;
pub use wait::{SOON, scaled, soon, wait_for, wait_until};
pub use worker::Worker;
