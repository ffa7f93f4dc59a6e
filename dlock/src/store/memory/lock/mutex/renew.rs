//! Extending the hold of a mutex, or giving it its end.

use std::time::Duration;

use super::Mutex;
use crate::protocol::{Extent, HoldId, Reply, Stray};
use crate::store::memory::lock::moment::Moment;
use crate::store::memory::lock::state::{MEMORY, after};

impl Mutex {
    pub(super) fn renew(
        &mut self,
        id: &HoldId,
        lease: Duration,
        extent: Extent,
        (fenced, valid_until): (bool, u64),
        at: Moment,
    ) -> Reply {
        let has_end = self.beside.is_buried(id, at);
        let Some(held) = self.held.as_mut().filter(|held| held.value.is(id)) else {
            if let Extent::Exactly { stray } = extent {
                self.beside.bury(id, stray, valid_until, at);
            }
            return Reply::Gone;
        };
        let until = Some(after(at.real, lease) / 1000);
        held.until = match (extent, has_end) {
            (Extent::Longer, false) => held.until.max(until),
            (Extent::Longer, true) => return Reply::Done,
            (Extent::Exactly { .. }, false) => until,
            (Extent::Exactly { .. }, true) => held.until.min(until),
        };
        let held = held.clone();
        if fenced && self.beside.last > 0 {
            let lasts = match extent {
                Extent::Longer => after(at.real + at.offset, lease),
                Extent::Exactly { .. } => at.now + held.left(at.real),
            };
            self.beside.promise(lasts);
        }
        if let Extent::Exactly { stray } = extent {
            let end = (at.real / 1000 * 1000 + held.left(at.real)).min(at.real + MEMORY);
            let until = match stray {
                Stray::None => end,
                Stray::Possible => end.max(valid_until),
            };
            self.beside.bury(id, Stray::Possible, until, at);
            self.ended = Some(held);
            self.passed = None;
            // A waiter that took the mutex past its own place.
            self.beside.line.leave(id);
        }
        Reply::Done
    }
}
