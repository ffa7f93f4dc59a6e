//! The local line: one waiter per process on the server, hand-over between tasks in memory.

mod gates;
mod lead;
mod line;
mod queued;

pub(super) use gates::Entry;
pub(crate) use gates::Gates;
pub(super) use lead::Lead;
pub(super) use line::{Terms, Turn};
pub(super) use queued::Queued;
