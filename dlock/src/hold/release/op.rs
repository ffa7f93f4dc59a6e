//! What the server is told.

use std::time::Duration;

use crate::hold::Hold;
use crate::protocol::{Extent, HoldId, Op, Stray};

/// How much longer a hold stays that has to stay for a while: its end by itself wakes nobody, so it is released before that.
pub(super) const SPARE: Duration = Duration::from_millis(200);

/// The release of a hold of this client. One that has to stay for a while gets an end at which it is gone by itself,
/// whatever becomes of this process.
#[inline]
pub(in crate::hold) fn of(hold: &Hold) -> Op {
    if let Some(rest) = hold.rest() {
        return Op::Renew {
            hold: hold.id.clone(),
            lease: rest + SPARE,
            extent: Extent::Exactly {
                stray: hold.stray(),
            },
        };
    }
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
