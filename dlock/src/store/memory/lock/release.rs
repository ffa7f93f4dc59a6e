//! Giving the lock back, and passing it on.

use std::time::Duration;

use super::hold::Hold;
use super::line::{Next, Post};
use super::state::{Lock, Moment, after};
use crate::kind::LockMode;
use crate::protocol::{HoldId, Message, Reply};
use crate::token::ServerToken;

/// A hold that may go on.
#[derive(Debug)]
pub(super) struct Slice<'a> {
    pub(super) id: &'a HoldId,
    /// For how long it goes on.
    pub(super) lease: Duration,
    /// The last token that its holder has been told.
    pub(super) seen: ServerToken,
    /// Up to which token it was used, if the server did not name that.
    pub(super) spent: Option<ServerToken>,
}

impl Lock {
    pub(super) fn release(
        &mut self,
        id: &HoldId,
        spent: Option<ServerToken>,
        at: Moment,
        post: &mut Post<'_>,
    ) -> Reply {
        let live = |hold: &&Hold| hold.id == *id && hold.deadline > at.now;
        let Some(deadline) = self.holds.iter().find(live).map(|hold| hold.deadline) else {
            return Reply::Gone;
        };
        let at = self.spend(spent, deadline, at);
        let now = at.now.max(self.last);
        self.drop_holds(|hold| hold.id == *id);
        self.clear_away(now);
        self.pass_on(now, post);
        self.settle_if_free(at);
        Reply::Done
    }

    /// Tokens were used that the server did not name: the next one is larger, and the lock's time is not before it.
    fn spend(&mut self, spent: Option<ServerToken>, deadline: u64, at: Moment) -> Moment {
        let Some(spent) = spent else { return at };
        // A client stops before its lease ends.
        let token = spent.as_u64().min(deadline - 1);
        if token <= self.last {
            return at;
        }
        self.last = token;
        let then = Moment::of(at.real, at.offset, token.max(self.noted));
        self.offset = self.offset.max(then.offset);
        then
    }

    /// Gives up what the acquire got: a hold or a place in the line.
    pub(super) fn abandon(&mut self, id: &HoldId, at: Moment, post: &mut Post<'_>) -> Reply {
        let held = self.holds.iter().any(|hold| hold.id == *id);
        self.drop_holds(|hold| hold.id == *id);
        let found = self.line.leave(id) || held;
        if found {
            self.pass_on(at.now, post);
        }
        self.settle_if_free(at);
        if found { Reply::Done } else { Reply::Gone }
    }

    /// Goes on with a fresh token unless this hold keeps a waiter out: then a write hold is released, and a read hold stays until
    /// its readers leave. A duplicate that comes after the holder got another token must not release the hold; it extends it.
    pub(super) fn yield_now(
        &mut self,
        slice: &Slice<'_>,
        at: Moment,
        post: &mut Post<'_>,
    ) -> Reply {
        let Some(index) = self.holds.iter().position(|hold| hold.id == *slice.id) else {
            return Reply::Gone;
        };
        let Hold {
            mode,
            mut token,
            deadline,
            ..
        } = self.holds[index];
        let mut now = at.now;
        if token == slice.seen.as_u64() {
            let at = self.spend(slice.spent, deadline, at);
            self.line.drop_dead(at.now);
            let somebody_waits = self.line.first(LockMode::Write).is_some()
                || mode == LockMode::Write && self.line.first(LockMode::Read).is_some();
            if somebody_waits && mode == LockMode::Write {
                return self.release(slice.id, None, at, post);
            }
            if somebody_waits {
                return Reply::Done;
            }
            now = at.now.max(self.last);
            token = self.next_token(now);
        }
        let hold = &mut self.holds[index];
        hold.token = token;
        hold.deadline = hold.deadline.max(after(now, slice.lease));
        let deadline = hold.deadline;
        self.promise(deadline);
        Reply::Granted(ServerToken::new(token))
    }

    /// Lets in the waiters that the lock admits now, and no others. Readers get a message to look; the first
    /// writer holds the lock from here on, for as long as its place would have been kept, provided that it hears.
    pub(super) fn pass_on(&mut self, mut now: u64, post: &mut Post<'_>) {
        while !self.is_write_held() {
            match self.line.next() {
                Some(Next::Readers { know: true, .. }) | None => return,
                Some(Next::Readers { upto, .. }) => {
                    self.line.begin_read_phase(upto);
                    self.line.tell_readers(post);
                }
                Some(Next::Writer) if !self.holds.is_empty() => return,
                Some(Next::Writer) => {
                    let Some((place, mut writer)) = self.line.take_writer() else {
                        return;
                    };
                    if !post.knows_who_hears() {
                        post.tell(&Message::Look(writer.id.clone()));
                        self.line.put_writer_back(place, writer);
                        return;
                    }
                    let token = self.next_token(now);
                    now = now.max(token);
                    let granted = Message::Granted {
                        hold: writer.id.clone(),
                        nonce: writer.nonce,
                        token: ServerToken::new(token),
                    };
                    if post.tell(&granted) {
                        self.holds.push(Hold {
                            id: writer.id,
                            mode: LockMode::Write,
                            owner: writer.owner,
                            deadline: writer.deadline,
                            token,
                        });
                        return;
                    }
                    let passed_over = writer.pass_over(post);
                    self.line.put_writer_back(place, writer);
                    if !passed_over {
                        return;
                    }
                    // The token may have moved the lock's time on.
                    self.line.drop_dead(now);
                }
            }
        }
    }
}
