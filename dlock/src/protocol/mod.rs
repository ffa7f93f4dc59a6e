//! What clients ask of a store and what it answers: the contract both stores implement. Called by `client`, `lock`, `hold`
//! and the stores; knows no Redis.

mod hold_id;
mod message;
mod op;
mod reply;

pub use hold_id::{ClientId, HoldId};
pub use message::{Message, Nonce};
pub use op::{Extent, Op, PlaceTerms, Stray};
pub(crate) use op::{forget_after, validity, whole_millis};
pub use reply::{HoldInfo, LockInfo, Reply, WaiterInfo};
