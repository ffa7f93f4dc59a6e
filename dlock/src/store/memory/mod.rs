//! Locks in this process: the embedded store, and the specification the Redis scripts are tested
//! against.
//!
//! `lock/` says what each operation means, one file per kind of operation; the other files keep
//! the locks and wake who waits.

mod clock;
mod lock;
mod named;
mod post;
mod shard;
mod store;

pub use clock::ServerClock;
pub use post::Post;
pub use store::MemoryStore;
