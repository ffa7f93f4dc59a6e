//! What functions under the attribute do, on every store.

mod aborts;
mod arguments;
mod busy;
mod drops;
mod keys;
mod lateness;
mod linger;
mod loss;
mod moved;
mod mutexes;
mod order;
mod reentry;
mod round_trips;
mod scope;
mod size;
mod stage;
mod sync;
mod thread_ends;
