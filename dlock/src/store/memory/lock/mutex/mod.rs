//! Mutexes: a string that is the hold, and beside it a lock's line, last token and notes.
//!
//! `state.rs` says what each operation means, with `acquire.rs` and `renew.rs`. `string.rs` says what the hold is, `moments.rs`
//! when the mutex is left free for programs without dlock, and `foreign.rs` what those programs do.

mod acquire;
mod foreign;
mod moments;
mod renew;
mod state;
mod string;

pub(in crate::store::memory) use state::Mutex;
