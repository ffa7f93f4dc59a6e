//! Giving the lock back, and passing it on.

use std::time::Duration;

use super::state::{Lock, after};
use crate::mode::Mode;
use crate::protocol::{HoldId, Reply};
use crate::token::FencingToken;

impl Lock {
    /// `handed` is the last token that was handed out under this hold without asking here.
    pub(super) fn release(&mut self, id: &HoldId, handed: u64, now: u64) -> (Reply, Vec<HoldId>) {
        if !self.holds.iter().any(|hold| hold.id == *id) {
            return (Reply::Gone, Vec::new());
        }
        self.last = self.last.max(handed);
        self.drop_holds(|hold| hold.id == *id);
        (Reply::Done, self.pass_on(now))
    }

    /// Gives up what the acquire got: a hold or a place in the line.
    pub(super) fn abandon(&mut self, id: &HoldId, now: u64) -> (Reply, Vec<HoldId>) {
        let held = self.holds.iter().any(|hold| hold.id == *id);
        self.drop_holds(|hold| hold.id == *id);
        if !self.line.leave(id) && !held {
            return (Reply::Gone, Vec::new());
        }
        (Reply::Done, self.pass_on(now))
    }

    /// Goes on with a fresh token unless somebody waits whom this hold keeps out: then a write
    /// hold is given back, and a read hold stays until its readers leave.
    pub(super) fn yield_now(
        &mut self,
        id: &HoldId,
        handed: u64,
        lease: Duration,
        now: u64,
    ) -> (Reply, Vec<HoldId>) {
        let Some(hold) = self.holds.iter_mut().find(|hold| hold.id == *id) else {
            return (Reply::Gone, Vec::new());
        };
        let somebody_waits = match hold.mode {
            Mode::Read => self.line.first(Mode::Write).is_some(),
            Mode::Write => !self.line.is_empty(),
        };
        if somebody_waits && hold.mode == Mode::Write {
            return self.release(id, handed, now);
        }
        self.last = self.last.max(handed);
        if somebody_waits {
            return (Reply::Done, Vec::new());
        }
        let now = now.max(self.last);
        let deadline = after(now, lease).max(hold.deadline);
        hold.deadline = deadline;
        self.promise(deadline);
        let token = self.next_token(now);
        (Reply::Granted(FencingToken::new(token)), Vec::new())
    }

    /// Whom the lock lets in now.
    fn pass_on(&mut self, now: u64) -> Vec<HoldId> {
        if self.is_free() {
            self.set_free(now);
        }
        if self.is_write_held() {
            return Vec::new();
        }
        self.line.admits(self.holds.is_empty())
    }
}
