//! What the servers have turned out to be.

use std::sync::OnceLock;

/// Noted by whoever finds out, for the advice in errors. Nothing else goes by it.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Whether they are a cluster.
    pub(crate) cluster: OnceLock<bool>,
    /// Whether they have sharded channels.
    pub(crate) sharded: OnceLock<bool>,
}
