//! For those who put locks into a service, and those who run it: what the reference does not say because it belongs to no
//! single item.
//!
//! * [`services`]: the attribute beside handlers, jobs, databases and tests; coming from other locks; when not to lock.
//! * [`operations`]: what servers have to be like, what locks cost them, what to watch, and what to do when a lease was
//!   lost.
//!
//! The attribute's arguments are explained where it is: [`distributed_lock`](macro@crate::distributed_lock).

#[doc = include_str!("operations.md")]
pub mod operations {}

#[doc = include_str!("services.md")]
pub mod services {}
