//! What clients ask of a store and what it answers: the contract both stores implement.

mod hold_id;
mod lease;
mod message;
mod op;
mod reply;
mod wire;

pub use hold_id::{ClientId, HoldId};
pub(crate) use lease::{forget_after, whole_millis};
pub use message::Message;
pub use op::Op;
pub use reply::{HoldInfo, LockInfo, Reply, WaiterInfo};
pub use wire::{Script, decode, encode, encode_plain};
pub(crate) use wire::{encode_without_line, wants_line, wants_script};
