//! What operators see. A side room: everything may report here, nothing depends on it.

mod acquire_watch;
mod describe;
mod lock_metrics;
pub mod names;
mod registry;

pub(crate) use acquire_watch::AcquireWatch;
pub use describe::describe;
pub(crate) use lock_metrics::LockMetrics;
pub(crate) use registry::for_label;
