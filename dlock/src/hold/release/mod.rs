//! Giving back what nobody waits for: dropped guards, cancelled acquires. For the keeper of the holds.

mod farewell;
mod queue;
mod task;

#[cfg(test)]
pub(super) use farewell::Watched;
pub(crate) use farewell::{FAREWELL, Pending};
#[cfg(test)]
pub(super) use queue::Item;
pub(super) use queue::{Releases, of, of_another};
