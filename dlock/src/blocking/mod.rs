//! Locks without async, for synchronous programs and for threads of asynchronous programs.
//!
//! A thread of dlock runs the connections of a [`blocking::Client`](Client), so it works outside and inside a Tokio runtime. Inside, a wait
//! blocks the other tasks of the calling thread: use [`tokio::task::spawn_blocking`].
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

mod client;
mod guards;
mod locks;

pub use self::client::Client;
pub use self::guards::{FencedMutexGuard, MutexGuard, ReadGuard, WriteGuard};
pub use self::locks::{FencedMutex, Mutex, RwLock};
