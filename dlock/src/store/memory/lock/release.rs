//! Giving the lock back, and passing it on.

use std::time::Duration;

use super::hold::Hold;
use super::state::{Lock, after};
use crate::mode::Mode;
use crate::protocol::{HoldId, Message, Reply};
use crate::token::FencingToken;

impl Lock {
    /// A hold that is still recorded was nobody else's until now, even if its lease is over. `handed` is the
    /// last token that was handed out under it without asking here.
    pub(super) fn release(
        &mut self,
        id: &HoldId,
        handed: Option<FencingToken>,
        now: u64,
    ) -> (Reply, Vec<Message>) {
        if !self.holds.iter().any(|hold| hold.id == *id) {
            return (Reply::Gone, Vec::new());
        }
        self.note_handed(handed);
        self.drop_holds(|hold| hold.id == *id);
        self.clear_away(now);
        (Reply::Done, self.pass_on(now))
    }

    fn note_handed(&mut self, handed: Option<FencingToken>) {
        let handed = handed.map_or(0, FencingToken::as_u64);
        if handed > self.last {
            self.last = handed;
            self.promise(handed);
        }
    }

    /// Gives up what the acquire got: a hold or a place in the line.
    pub(super) fn abandon(&mut self, id: &HoldId, now: u64) -> (Reply, Vec<Message>) {
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
        handed: Option<FencingToken>,
        lease: Duration,
        now: u64,
    ) -> (Reply, Vec<Message>) {
        let Some(at) = self.holds.iter().position(|hold| hold.id == *id) else {
            return (Reply::Gone, Vec::new());
        };
        let mode = self.holds[at].mode;
        let somebody_waits = match mode {
            Mode::Read => self.line.first(Mode::Write).is_some(),
            Mode::Write => !self.line.is_empty(),
        };
        if somebody_waits && mode == Mode::Write {
            return self.release(id, handed, now);
        }
        self.note_handed(handed);
        if somebody_waits {
            return (Reply::Done, Vec::new());
        }
        let now = now.max(self.last);
        let token = self.next_token(now);
        let hold = &mut self.holds[at];
        hold.token = token;
        hold.deadline = hold.deadline.max(after(now, lease));
        let deadline = hold.deadline;
        self.promise(deadline);
        (Reply::Granted(FencingToken::new(token)), Vec::new())
    }

    /// Lets in those whom the lock admits now, and nobody else. Readers are told to look; the first
    /// writer holds the lock from here on, for as long as its place would have been kept.
    fn pass_on(&mut self, now: u64) -> Vec<Message> {
        if self.is_write_held() {
            return Vec::new();
        }
        let readers = self.line.entering_readers();
        if !readers.is_empty() || !self.holds.is_empty() {
            return readers.into_iter().map(Message::Look).collect();
        }
        let Some(writer) = self.line.take_writer() else {
            return Vec::new();
        };
        let token = self.next_token(now);
        self.holds.push(Hold {
            id: writer.id.clone(),
            mode: Mode::Write,
            owner: writer.owner,
            deadline: writer.deadline,
            token,
        });
        vec![Message::Granted(writer.id, FencingToken::new(token))]
    }
}
