//! Mutexes: a string that is the hold, and beside it a lock's line, last token and notes.
//!
//! `state.rs` says what each operation means, with `acquire.rs`. `string.rs` says what the hold is, and `foreign.rs` what programs
//! without dlock do, and when the mutex is left free for them.

mod acquire;
mod foreign;
mod state;
mod string;

pub(in crate::store::memory) use state::Mutex;
