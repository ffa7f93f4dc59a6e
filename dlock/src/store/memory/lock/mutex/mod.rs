//! Mutexes: a string that is the hold, and beside it a lock's line, last token and notes.
//!
//! `state.rs` says what each operation means, `string.rs` what the hold is, `moments.rs` when it is left free for those
//! who know no line, `foreign.rs` what those do.

mod foreign;
mod moments;
mod state;
mod string;

pub(in crate::store::memory) use state::Mutex;
