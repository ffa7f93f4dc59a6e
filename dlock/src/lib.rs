//! Read/write locks on Redis Cluster, as an attribute for service functions.
//!
//! [`distributed_lock`] acquires a lock before the body of a function, renews its lease while the body runs, stops the body when the
//! lease is lost, and releases the lock afterwards:
//!
//! ```
//! use dlock::distributed_lock;
//!
//! # struct Db;
//! # impl Db {
//! #     async fn load(&self, _id: u64) -> u32 { 1 }
//! #     async fn store(&self, _id: u64, _n: u32) {}
//! # }
//! #[distributed_lock(key = "order:{order_id}", mode = "write")]
//! async fn add_item(order_id: u64, db: &Db) -> Result<u32, dlock::Error> {
//!     let items = db.load(order_id).await + 1; // no other process edits this order
//!     db.store(order_id, items).await; // until the function returns
//!     Ok(items)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), dlock::Error> {
//! dlock::install(dlock::Client::connect("memory://").await?); // or redis://…, a server or a cluster
//! assert_eq!(add_item(42, &Db).await?, 2);
//! # Ok(())
//! # }
//! ```
//!
//! Without the attribute, [`Client::rw_lock`] returns a handle, [`RwLock::write`] and its variants acquire the lock, and a [`WriteGuard`] or
//! [`ReadGuard`] holds it until it is released, dropped or lost. Threads use [`blocking`], unit tests [`testing`].
//!
//! As long as no lease is lost, a writer is alone. A holder learns that its lease has ended ([`WriteGuard::is_lost`]) before the server
//! grants the lock again, even after a pause of the whole process. A lock cannot recall requests that were already sent; the
//! [`FencingToken`] covers those. [`guide::guarantees`] has all promises and limits.
//!
//! The [`guide`] is for developers of services and for operators.
//!
//! Cargo features: `tls` for `rediss://`, `tracing` (on by default). The crate `dlock-cli` is the `dlock` command.

mod attribute;
#[cfg_attr(
    dlock_sim,
    expect(dead_code, reason = "a simulation has tasks and timers of its own")
)]
mod background;
mod backoff;
pub mod blocking;
mod client;
mod clock;
mod duration;
mod error;
pub mod guide;
mod hold;
mod key;
mod kind;
mod lease;
mod lock;
pub mod metrics;
mod protocol;
mod random;
#[cfg(dlock_sim)]
#[doc(hidden)]
pub mod sim;
mod slot;
mod store;
mod sync;
mod tasks;
pub mod testing;
mod token;
mod trace;

pub use attribute::{AsClient, CallGuard, CallMutexGuard, FromLockError, current, current_mutex};
pub use client::{Client, ClientBuilder, install, installed};
#[doc = include_str!("attribute/distributed_lock.md")]
pub use dlock_macros::distributed_lock;
pub use error::{Error, ErrorKind, LossReason, TimeoutStep};
pub use key::{LockKey, MAX_NAME_BYTES};
pub use kind::{LockKind, LockMode};
pub use lease::{DEFAULT_LEASE, MAX_LEASE, MAX_LINGER, MIN_LEASE};
pub use lock::{FencedMutex, FencedMutexGuard, Mutex, MutexGuard, ReadGuard, RwLock, WriteGuard};
pub use protocol::{HoldInfo, LockInfo, WaiterInfo};
pub use slot::Slot;
pub use token::FencingToken;

/// The contract between the client and its stores, for this project's own tests. Not covered by
/// semantic versioning.
#[doc(hidden)]
pub mod __internals {
    pub use crate::clock::BootInstant;
    pub use crate::duration::parse as parse_duration;
    pub use crate::error::plain;
    pub use crate::protocol::{
        ClientId, Extent, HoldId, Message, Nonce, Op, PlaceTerms, Reply, Stray,
    };
    pub use crate::store::{
        Answer, Counter, Endpoint, Keys, Listener, MemoryStore, Origin, Password, Pem, Post,
        RedisListening, RedisNodeId, RedisOptions, RedisStats, RedisStore, Script, ScriptLoad,
        ServerClock, Trust, Wakeups, decode, encode, encode_brief, encode_plain, script_source,
    };

    pub use crate::token::ServerToken;

    use crate::{Error, LockKey, LockKind};

    /// A checked key without a client.
    ///
    /// # Errors
    /// As for the names given to a client.
    pub fn lock_key(prefix: &str, name: &str) -> Result<LockKey, Error> {
        LockKey::new(prefix, name)
    }

    /// Builds the key of a mutex.
    ///
    /// # Errors
    /// As for the names given to a client.
    pub fn mutex_key(kind: LockKind, prefix: &str, name: &str) -> Result<LockKey, Error> {
        LockKey::mutex(kind, prefix, name)
    }

    /// The key of a lock's hash, which a mutex has beside its string.
    #[must_use]
    pub fn record_of(key: &LockKey) -> &str {
        key.record()
    }
}

/// What the attribute's expansion calls. Not covered by semantic versioning.
#[doc(hidden)]
pub mod __private {
    pub use crate::attribute::{Grant, Holds, Loss, Report, Request, is_busy, name, on_busy};
    pub use crate::kind::{LockKind, LockMode};
}
