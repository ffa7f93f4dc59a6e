//! The gates: one for each lock in use, so that a process has one waiter per lock on the server and passes a hold from
//! task to task in memory. Called by `lock` alone.
//!
//! `line` decides and does nothing else; `gates` keeps a line for each lock behind a mutex and carries out what it
//! decides; a `Share`, a `Lead` and a `Place` are what tasks get, and each tells the gate when it is dropped. `watch` looks after a hold
//! that may linger: without `linger` nothing of it runs.

mod gates;
mod lead;
mod line;
#[cfg(test)]
mod models;
mod share;
mod watch;

pub(super) use gates::{Entry, Gates, Turn};
pub(super) use lead::{Acquired, Lead, Place};
pub(crate) use share::Share;
