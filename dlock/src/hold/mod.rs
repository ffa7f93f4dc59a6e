//! What the server has granted to this client: until when it may rely on it, which tokens belong to it, whether it was
//! lost. The keeper renews holds and gives them back. Called by `lock`, and by `attribute` to look at a hold.

mod deadline;
mod farewell;
#[expect(
    clippy::module_inception,
    reason = "the room is named after its main noun"
)]
mod hold;
mod keeper;
mod lingering;
#[cfg(test)]
pub(crate) mod models;
mod release;
mod renewal;

pub(crate) use deadline::{Start, WAITER_LEASE};
pub(crate) use farewell::{FAREWELL, Pending};
pub(crate) use hold::{Granted, Hold, OnLoss, Terms};
pub(crate) use keeper::Keeper;
