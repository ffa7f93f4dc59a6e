//! The rules of locks, one by one, on the memory store. The property test in `spec` carries them
//! over to the scripts.

mod exclusion;
mod expiry;
mod line;
mod lock;
mod repetition;
mod tokens;
mod wakeups;
