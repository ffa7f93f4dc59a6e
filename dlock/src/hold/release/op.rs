//! What the server is told.

use std::time::Duration;

use crate::hold::Hold;
use crate::protocol::{HoldId, Op, Stray};

/// The release of a hold of this client.
#[inline]
pub(in crate::hold) fn of(hold: &Hold) -> Op {
    Op::Release {
        hold: hold.id.clone(),
        lease: hold.terms.lease,
        stray: hold.stray(),
    }
}

/// The release of a hold of which only the id is known.
pub(in crate::hold) fn of_another(hold: HoldId, lease: Duration) -> Op {
    Op::Release {
        hold,
        lease,
        stray: Stray::None,
    }
}
