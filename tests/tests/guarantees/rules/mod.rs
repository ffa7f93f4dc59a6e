//! The rules of locks, one by one, on the memory store. The property test in `spec` carries them
//! over to the scripts.

mod deaf;
mod exclusion;
mod expiry;
mod late;
mod line;
mod lock;
mod repetition;
mod set_back;
mod silence;
mod tokens;
mod told;
mod wakeups;
