//! Taking over a token that another server has named.

use super::moment::Moment;
use super::state::Lock;
use crate::protocol::{HoldId, Reply};

impl Lock {
    /// From here on tokens are larger than this one. If it is ahead of the clock, the lock's time goes on to it, and with
    /// it the ends of all holds: no lease gets shorter. It is remembered until the clock has come to it, whether the lock is
    /// held or not; the answer tells whether it is by this hold.
    pub(super) fn raise(&mut self, id: &HoldId, token: u64, at: Moment) -> Reply {
        let held = |hold: &super::hold::Hold| hold.id == *id && hold.deadline > at.now;
        let is_held = self.holds.iter().any(held);
        if !is_held && token < at.now {
            return Reply::Gone;
        }
        self.last = self.last.max(token);
        let known = self.last.max(self.noted);
        let mut then = Moment::of(at.real, at.offset, known);
        let other = |hold: &super::hold::Hold| hold.id != *id && hold.deadline > at.now;
        if self.holds.iter().any(other) {
            // Time that waits for the clock would keep others' holds from their ends for as long as tokens come.
            then.offset = then.now - then.real;
        }
        for hold in &mut self.holds {
            hold.deadline += then.now - at.now;
            if hold.id == *id {
                hold.token = hold.token.max(token);
            }
        }
        if then.offset > 0 || !is_held {
            self.raised = self.last;
        }
        self.keep_in_step(at, then);
        if is_held { Reply::Done } else { Reply::Gone }
    }

    /// Tombstones and the last token last as long by the server's clock as before.
    fn keep_in_step(&mut self, at: Moment, then: Moment) {
        self.shift_promises(then.offset - at.offset);
        self.offset = then.offset;
        let latest = self.holds.iter().map(|hold| hold.deadline).max();
        self.promise(latest.unwrap_or(then.now).max(then.now));
    }
}
