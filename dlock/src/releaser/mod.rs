//! Giving back what nobody waits for: dropped guards, cancelled acquires.

mod pending;
mod queue;
mod task;

pub(crate) use pending::Pending;
pub(crate) use queue::{ReleaseQueue, Releaser};
