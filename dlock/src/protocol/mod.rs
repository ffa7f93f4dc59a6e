//! What clients ask of a store and what it answers: the contract both stores implement. Called by `client`, `lock`, `hold`
//! and the stores; knows no Redis.

mod hold_id;
mod lease;
mod message;
mod nonce;
mod op;
mod reply;

pub use hold_id::{ClientId, HoldId};
pub(crate) use lease::{forget_after, validity, whole_millis};
pub use message::Message;
pub use nonce::Nonce;
pub use op::{Extent, Op, PlaceTerms, Stray};
pub use reply::{HoldInfo, LockInfo, Reply, WaiterInfo};
