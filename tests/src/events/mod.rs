//! What several processes saw, and whether that is what a read/write lock allows.

mod check;
mod event;
mod hold;
mod log;
mod report;

pub use self::{
    check::check_exclusion,
    event::{Event, EventKind, Mode},
    log::{EventLog, now_ns},
    report::{Report, Violation},
};
