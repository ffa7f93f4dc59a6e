//! The same without async: for synchronous programs, and for threads of an asynchronous one.
//!
//! A [`blocking::Client`](Client) brings the runtime that its connections need, on a thread of its own,
//! so it works outside and inside a Tokio runtime. Inside, it keeps the calling thread from running
//! other tasks while it waits: call it from [`tokio::task::spawn_blocking`] there.
//!
//! ```
//! # fn main() -> Result<(), dlock::Error> {
//! let client = dlock::blocking::Client::connect("memory://")?;
//! let lock = client.rw_lock("order:42")?;
//! let guard = lock.write()?;
//! println!("fencing token {}", guard.fencing_token());
//! guard.release()?;
//! # Ok(())
//! # }
//! ```
//!
//! Synchronous functions under [`#[distributed_lock]`](macro@crate::distributed_lock) use it, or any
//! other client, in the same way.

mod background;
mod client;
mod guards;
mod mutex;
mod rw_lock;

pub use self::client::Client;
pub use self::guards::{FencedMutexGuard, MutexGuard, ReadGuard, WriteGuard};
pub use self::mutex::{FencedMutex, Mutex};
pub use self::rw_lock::RwLock;
