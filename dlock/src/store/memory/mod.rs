//! Locks in this process: the embedded store, and the specification the Redis scripts are tested
//! against.
//!
//! `lock/` says what each operation means, and in `lock/line.rs` in which order waiters get the lock; the other files keep the
//! locks and wake waiters. Called by the store.

mod lock;
mod shard;
mod store;

pub use lock::Post;
pub use store::{MemoryStore, ServerClock};
