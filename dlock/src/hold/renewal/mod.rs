//! Keeping holds alive. For the keeper of the holds.

mod queue;
mod renewals;
mod sending;
mod task;

pub(super) use renewals::Renewals;
pub(super) use sending::Way;
