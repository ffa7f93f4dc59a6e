//! The one error type.

mod kind;
mod opaque;

pub use kind::{ErrorKind, LossReason, Step};
pub use opaque::Error;
