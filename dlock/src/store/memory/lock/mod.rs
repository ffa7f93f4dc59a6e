//! One lock: what each operation means. All times are server time in microseconds.
//!
//! `state.rs` hands each operation to `acquire.rs`, `release.rs` or `hold.rs`, which extends holds and lists them; `line.rs` has
//! the order of the waiters, and `mutex/` what a mutex does otherwise.

mod acquire;
mod hold;
mod line;
mod mutex;
mod release;
mod state;

pub use line::Post;
pub(super) use mutex::Mutex;
pub(super) use state::Lock;
