//! What processes saw of locks: each process writes its calls to a file that outlives it, and a checker reads the files
//! without the lock's help.

mod belief;
mod call;
mod conflicts;
mod journal;
mod report;
mod story;

pub use self::{
    belief::Belief,
    call::{Call, Got, Outcome, Seconds, Who},
    conflicts::{Conflict, Wrong, conflicts},
    journal::{Journal, now_ns},
    report::{Report, Tokens, check_exclusion},
    story::Story,
};
