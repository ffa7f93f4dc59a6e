//! Renewals on their way.

use std::sync::Arc;

use crate::hold::Hold;
use crate::store::NodeId;

/// Where a renewal has gone, and by which connection: another that followed on the same one would only arrive behind it. In a
/// quorum there is not one connection, and each try may fare better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hold) struct Way {
    pub(super) node: NodeId,
    pub(super) connection: Option<u64>,
}

/// Renewals that have gone the same way. Whatever ends them, others may follow.
pub(super) struct Sending {
    way: Way,
    pub(super) holds: Vec<Arc<Hold>>,
}

impl Sending {
    /// Keeps the holds that have no renewal on this way.
    pub(super) fn begin(way: Way, mut holds: Vec<Arc<Hold>>) -> Self {
        holds.retain(|hold| {
            let before = hold.renewing.lock().replace(way);
            way.connection.is_none() || before != Some(way)
        });
        Self { way, holds }
    }

    pub(super) fn node(&self) -> NodeId {
        self.way.node
    }

    /// A renewal has come to its end.
    pub(super) fn arrived(&self, hold: &Hold) {
        let mut renewing = hold.renewing.lock();
        if *renewing == Some(self.way) {
            *renewing = None;
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        for hold in &self.holds {
            self.arrived(hold);
        }
    }
}
