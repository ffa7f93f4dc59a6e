//! The one error type. A leaf: any room may call.
//!
//! Texts stand where an error is made; `opaque.rs` has those that are made in several places. Texts about a server that
//! refuses or does not answer are in `store/redis/node/trouble.rs`.

mod kind;
mod opaque;
mod text;

pub use kind::{ErrorKind, LossReason, TimeoutStep};
pub use opaque::Error;
pub use text::plain;
pub(crate) use text::{Quoted, Written};
