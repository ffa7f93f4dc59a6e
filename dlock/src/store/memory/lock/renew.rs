//! Extending a hold, or giving it its end.

use std::time::Duration;

use super::moment::Moment;
use super::state::{Lock, MEMORY, after};
use crate::protocol::{Extent, HoldId, Reply, Stray};

impl Lock {
    /// A lease gets shorter only for a hold on which no client relies. A later renewal is a delayed duplicate.
    pub(super) fn renew(
        &mut self,
        id: &HoldId,
        lease: Duration,
        extent: Extent,
        valid_until: u64,
        at: Moment,
    ) -> Reply {
        let ended = self.is_buried(id, at);
        let mut holds = self.holds.iter_mut();
        let Some(hold) = holds.find(|hold| hold.id == *id && hold.deadline > at.now) else {
            if let Extent::Exactly { stray } = extent {
                self.bury(id, stray, valid_until, at);
            }
            return Reply::Gone;
        };
        let (before, deadline) = (hold.deadline, after(at.now, lease));
        hold.deadline = match (extent, ended) {
            (Extent::Longer, false) => hold.deadline.max(deadline),
            (Extent::Longer, true) => hold.deadline,
            (Extent::Exactly { .. }, false) => deadline,
            (Extent::Exactly { .. }, true) => hold.deadline.min(deadline),
        };
        let deadline = hold.deadline;
        if deadline > before {
            self.note_time(at.now);
        }
        if let Extent::Exactly { stray } = extent {
            let end = (deadline - at.offset).min(at.real + MEMORY);
            let until = match stray {
                Stray::None => end,
                Stray::Possible => end.max(valid_until),
            };
            self.bury(id, Stray::Possible, until, at);
        }
        self.promise(deadline);
        Reply::Done
    }
}
