//! Giving back what nobody waits for: dropped guards, cancelled acquires. For the keeper of the holds.

mod farewell;
mod later;
mod op;
mod outbox;
mod pending;
mod queue;
mod task;
mod watched;

pub(crate) use farewell::FAREWELL;
pub(super) use op::{of, of_another};
pub(crate) use pending::Pending;
#[cfg(test)]
pub(super) use queue::Item;
pub(super) use queue::Releases;
#[cfg(test)]
pub(super) use watched::Watched;
