//! What functions under the attribute do, on every store.

mod arguments;
mod busy;
mod keys;
mod loss;
mod order;
mod reentry;
mod round_trips;
mod scope;
mod size;
mod sync;
