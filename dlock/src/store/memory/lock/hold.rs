//! A recorded acquisition.

use std::sync::Arc;

use crate::mode::LockMode;
use crate::protocol::HoldId;

/// A client holds the lock until `deadline`.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) id: HoldId,
    pub(super) mode: LockMode,
    pub(super) owner: Option<Arc<str>>,
    pub(super) deadline: u64,
    pub(super) token: u64,
}

impl Hold {
    /// Whether this hold is another owner's. Without an owner, each hold stands for itself.
    pub(super) fn is_of_another(&self, owner: Option<&str>) -> bool {
        self.owner.is_none() || self.owner.as_deref() != owner
    }
}
