//! Keeping holds alive.

mod queue;
mod renewals;
mod task;

pub(crate) use renewals::Renewals;
