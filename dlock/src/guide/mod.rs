//! What the reference does not say, because it belongs to no single item.
//!
//! * [`guarantees`]: what dlock promises, and what no lock can.
//! * [`configuration`]: all settings, with defaults and ranges.
//! * [`services`]: the attribute beside handlers, jobs, databases and tests; migration from other locks; when not to lock.
//! * [`operations`]: requirements of the servers, what locks cost them, monitoring, and what to do after a lost lease.
//! * [`benchmarks`]: dlock beside other locks.
//!
//! [`distributed_lock`](macro@crate::distributed_lock) explains the attribute's arguments.

#[doc = include_str!("benchmarks.md")]
pub mod benchmarks {}

#[doc = include_str!("configuration.md")]
pub mod configuration {}

#[doc = include_str!("guarantees.md")]
pub mod guarantees {}

#[doc = include_str!("operations.md")]
pub mod operations {}

#[doc = include_str!("services.md")]
pub mod services {}
