//! Keeping holds alive. For the keeper of the holds.

mod lanes;
mod queue;
mod renewals;
mod task;

pub(super) use lanes::Way;
pub(super) use renewals::Renewals;
