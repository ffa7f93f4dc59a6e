//! Releases that no caller waits for: of dropped guards and cancelled acquires. Called by the keeper of the holds.

mod farewell;
mod queue;
mod task;

#[cfg(test)]
pub(super) use farewell::Watched;
pub(crate) use farewell::{FAREWELL, Pending};
#[cfg(test)]
pub(super) use queue::Item;
pub(super) use queue::{Releases, of, of_another};
