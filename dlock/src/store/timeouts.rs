//! How long servers may take.

use std::time::Duration;

/// What a client grants its servers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// How long an operation is tried again while servers fail.
    pub(crate) retry_for: Duration,
    /// How long one attempt to connect may take.
    pub(crate) connect: Duration,
    /// How long one answer may take.
    pub(crate) response: Duration,
}
