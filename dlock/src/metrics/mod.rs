#![doc = include_str!("README.md")]

mod describe;
mod lock_metrics;
pub mod names;
mod process_metrics;
mod registry;

pub use describe::{BUCKETS, describe};
pub(crate) use lock_metrics::{LockMetrics, Via};
pub(crate) use process_metrics::{Redirect, failed, queued, redirected, topology_changed};
pub use registry::{MAX_LABELS, OTHER};
pub(crate) use registry::{command, for_label};
