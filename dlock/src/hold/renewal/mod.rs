//! Keeping holds alive. For the keeper of the holds.

mod renewals;
mod task;

pub(super) use renewals::Renewals;
