//! Read/write locks on Redis Cluster, as an attribute for service functions.

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
mod token;

pub use client::{Client, ClientBuilder, DEFAULT_LEASE, MAX_LEASE, MIN_LEASE, install, installed};
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
    pub use crate::store::{Answer, Listener, Wakeups};
}
