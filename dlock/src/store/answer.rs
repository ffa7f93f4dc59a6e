//! What comes back from a store.

use super::Origin;
use crate::clock::BootInstant;
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
