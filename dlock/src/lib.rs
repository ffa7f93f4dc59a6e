//! Read/write locks on Redis Cluster, as an attribute for service functions.

mod attribute;
pub mod blocking;
mod client;
mod clock;
mod error;
mod key;
mod lock;
pub mod metrics;
mod mode;
mod protocol;
mod releaser;
mod renewal;
mod slot;
mod store;
pub mod testing;
mod token;
mod trace;

pub use attribute::{Held, current};
pub use client::{Client, ClientBuilder, DEFAULT_LEASE, MAX_LEASE, MIN_LEASE, install, installed};
pub use dlock_macros::distributed_lock;
pub use error::{Error, ErrorKind, LossReason, Step};
pub use key::{LockKey, MAX_NAME_BYTES};
pub use lock::{ReadGuard, RwLock, WriteGuard};
pub use mode::Mode;
pub use protocol::{HoldInfo, LockInfo, WaiterInfo};
pub use slot::Slot;
pub use token::FencingToken;

/// The contract between the client and its stores, for this project's own tests. Not covered by
/// semantic versioning.
#[doc(hidden)]
pub mod __internals {
    pub use crate::clock::BootInstant;
    pub use crate::protocol::{ClientId, HoldId, Op, Reply, Script, decode, encode};
    pub use crate::store::{
        Answer, Counter, Endpoint, Listener, MemoryStore, Password, RedisListening, RedisNodeId,
        RedisOptions, RedisStats, RedisStore, ScriptLoad, ServerClock, Wakeups, script_source,
    };

    use crate::{Error, FencingToken, LockKey};

    /// A checked key without a client.
    ///
    /// # Errors
    /// As for the names given to a client.
    pub fn lock_key(prefix: &str, name: &str) -> Result<LockKey, Error> {
        LockKey::new(prefix, name)
    }

    /// A token as a client makes it when it passes a hold on among its own tasks.
    #[must_use]
    pub fn fencing_token(token: u64) -> FencingToken {
        FencingToken::new(token)
    }
}

/// What the attribute's expansion calls. Not covered by semantic versioning.
#[doc(hidden)]
pub mod __private {
    pub use crate::attribute::{
        AsClient, BusyResult, Grant, Holds, LockResult, Request, is_busy, name, on_busy, report,
        report_not_busy,
    };
    pub use crate::mode::Mode;
}
