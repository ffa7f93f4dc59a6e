#![doc = include_str!("README.md")]

mod describe;
mod lock_metrics;
mod process_metrics;
mod registry;

pub use describe::{BUCKETS, describe, names};
pub(crate) use lock_metrics::{LockMetrics, Via};
pub(crate) use process_metrics::{Redirect, failed, queued, redirected, topology_changed};
pub use registry::{MAX_LABELS, OTHER};
pub(crate) use registry::{command, for_label};
