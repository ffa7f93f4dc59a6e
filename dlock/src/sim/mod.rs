//! What a simulation puts in place of clocks, timers, randomness, tasks and the network: only in builds with
//! `--cfg dlock_sim`, of which no other part knows but [`clock`](crate::clock), [`random`](crate::random),
//! [`tasks`](crate::tasks) and the stream to a server.
//!
//! A simulation runs in one thread. It implements [`World`], enters it, and drives what is spawned.

mod tasks;
mod time;
mod world;

#[cfg(feature = "tls")]
pub use self::tasks::run_blocking;
pub use self::tasks::{
    AbortHandle, JoinError, JoinSet, Place, Whereabouts, spawn, start, wait_at_most, whereabouts,
};
pub use self::time::{Elapsed, Instant, Sleep, sleep, sleep_until, timeout, timeout_at};
use self::world::world;
pub use self::world::{Stream, Task, World, enter};
pub(crate) use self::world::{boot, random};
