//! What comes back from a store, and how long to wait for it.

use std::time::Duration;

use super::Origin;
use crate::clock::{BootInstant, Instant};
use crate::protocol::Reply;

/// A reply, and when its request left.
#[derive(Debug, Clone)]
pub struct Answer {
    /// What the store said.
    pub reply: Reply,
    /// When the request that was answered was sent: a lease it grants is counted from here.
    pub sent_at: BootInstant,
    /// The server that answered.
    pub from: Origin,
    /// Whether an earlier request went out whose answer never came, so that the effect may be its.
    pub resent: bool,
}

/// Until when a batch of requests waits for its answers.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For a server that sends nothing.
    pub(crate) until: Instant,
    /// For a server that is slow, which shows in what it sends meanwhile.
    pub(crate) latest: Instant,
}

impl From<Instant> for Patience {
    fn from(until: Instant) -> Self {
        Self {
            until,
            latest: until,
        }
    }
}

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
