//! Acquiring, holding and releasing. Called by `client`, which makes the [`Commons`], and by what stands above it.
//!
//! | noun | means |
//! |---|---|
//! | hold | what the server granted to this client, under an id of its own |
//! | lease | how long a hold lasts without a renewal; its deadline is this client's idea of the end |
//! | token | the number that orders the holders of a lock; a hold may hand out several |
//! | loss | the end of a hold before it was released, and why |
//! | keeper | renews the holds of a client and gives them back |
//! | share | one task's part of a hold: many for readers, one after the other for writers |
//! | guard | what a user has: a share with a public face |
//! | gate | where the tasks of this process meet that want one lock |
//! | line | the waiters for a lock: tasks at its gate, processes on the server |
//! | place | a waiter's position in a line |
//! | turn | what a task in line is told in the end |
//! | lead | the right and duty of one task to ask the server for all at its gate |
//! | slice | for how long a hold goes from task to task before the server is asked about others |
//! | claim | an acquire on the server whose outcome is not settled |
//! | terms | mode, lease and time limit: what tasks have to agree on to share a hold |
//!
//! `acquire` is the way in: through the `gate`, and if that says so through `remote` to the server, where `waiting` knows
//! how to stand in line. The way out begins with a share that is dropped or released.

mod acquire;
mod commons;
mod gate;
mod guards;
mod handle;
mod mutex;
mod remote;
mod rw_lock;
mod waiting;

pub(crate) use commons::Commons;
pub(crate) use gate::Share;
pub use guards::{FencedMutexGuard, MutexGuard, ReadGuard, WriteGuard};
pub(crate) use handle::{Handle, Settings};
pub use mutex::{FencedMutex, Mutex};
pub use rw_lock::RwLock;
pub(crate) use waiting::Wait;
