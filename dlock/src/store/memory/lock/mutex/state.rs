//! What each operation does to a mutex.

use std::time::Duration;

use super::foreign::Moments;
use super::string::{Held, Value};
use crate::kind::LockMode;
use crate::protocol::{HoldId, HoldInfo, LockInfo, Message, Op, Reply, whole_millis};
use crate::store::memory::lock::acquire::Ask;
use crate::store::memory::lock::line::Post;
use crate::store::memory::lock::state::{Lock, Moment};

/// One mutex.
#[derive(Debug, Default)]
pub(in crate::store::memory) struct Mutex {
    pub(super) held: Option<Held>,
    /// The last hold that was given its end: it stays until then, although a copy of it has no effect.
    pub(super) ended: Option<Held>,
    /// The line, the last token and the notes; it has the hold only while an operation is carried out.
    pub(super) beside: Lock,
    pub(super) moments: Moments,
    /// The hold that was passed on last, until it is given back, and when it ended then.
    pub(super) passed: Option<(HoldId, u64)>,
}

impl Mutex {
    /// Carries out one operation at a server time, for a client that needs tokens or not.
    pub(in crate::store::memory) fn apply(
        &mut self,
        op: &Op,
        fenced: bool,
        valid_until: u64,
        time: u64,
        slack: u64,
        post: &mut Post<'_>,
    ) -> Reply {
        self.held = self.held.take().filter(|held| !held.is_over(time));
        if self.beside.raised <= time {
            self.beside.raised = 0;
        }
        if self.beside.is_forgotten(time, slack) {
            self.beside = Lock::default();
            self.moments = Moments::default();
            self.passed = None;
            self.ended = None;
        }
        loop {
            let at = self.beside.moment(time);
            self.beside.holds = self
                .held
                .iter()
                .filter_map(|held| held.as_hold(at))
                .collect();
            let last = self.beside.last;
            let reply = self.carry_out(op, fenced, valid_until, at, post);
            if self.beside.last != last && !matches!(op, Op::Raise { .. }) {
                // The mutex was passed on, perhaps to a waiter that is not subscribed.
                self.passed = None;
            }
            self.beside.settle_if_free(at);
            if reply != Reply::Again {
                self.beside.conclude(op, &reply, valid_until, at);
                self.take_over(at);
                return reply;
            }
            self.take_over(at);
            self.beside.offset = at.offset;
        }
    }

    /// The waiter that was let in holds the string.
    fn take_over(&mut self, at: Moment) {
        if self.held.is_none()
            && let Some(hold) = self.beside.holds.first()
        {
            // Tokens of waiters that missed their message have moved the lock's time on.
            let now = at.now.max(hold.token);
            let lease = Duration::from_millis(((hold.deadline - now) / 1000).max(1));
            self.held = Some(Held::new(Value::Own(hold.id.clone()), at.real, lease));
            self.passed = Some((hold.id.clone(), hold.deadline));
        }
        self.beside.holds.clear();
    }

    pub(in crate::store::memory) fn is_idle(&self) -> bool {
        self.held.is_none() && self.beside.is_idle()
    }

    pub(in crate::store::memory) fn is_forgotten(&self, time: u64, slack: u64) -> bool {
        let held = self.held.as_ref().is_some_and(|held| !held.is_over(time));
        !held && self.beside.is_forgotten(time, slack)
    }

    /// When it was left free, since when it was not, and when a program without dlock was seen.
    pub(in crate::store::memory) fn moments(&self) -> [Option<u64>; 3] {
        self.moments.times()
    }

    /// The queue and the tokens, which are kept beside the string.
    pub(in crate::store::memory) fn beside(&self) -> &Lock {
        &self.beside
    }

    fn carry_out(
        &mut self,
        op: &Op,
        fenced: bool,
        valid_until: u64,
        at: Moment,
        post: &mut Post<'_>,
    ) -> Reply {
        match op {
            Op::Acquire {
                hold,
                mode: _,
                lease,
                owner: _,
                place,
            } => {
                if valid_until < at.real {
                    return Reply::TooLate(at.real);
                }
                if self.beside.is_buried(hold, at) {
                    return Reply::Gone;
                }
                self.beside.clear_away(at.now);
                let ask = Ask {
                    id: hold,
                    mode: LockMode::Write,
                    owner: None,
                    lease: whole_millis(*lease),
                    place: *place,
                };
                self.acquire(&ask, fenced, at, post)
            }
            Op::Renew {
                hold,
                lease,
                extent,
            } => {
                let longer = whole_millis(*lease);
                self.renew(hold, longer, *extent, (fenced, valid_until), at)
            }
            Op::Release { hold, stray, .. } => {
                self.beside.bury(hold, *stray, valid_until, at);
                let mine = self.give_back(hold);
                if mine {
                    // A waiter that then got the mutex by a plain `SET`.
                    self.beside.line.leave(hold);
                }
                self.serve(mine, at, post)
            }
            Op::Abandon { hold, stray } => {
                self.beside.clear_away(at.now);
                self.beside.bury(hold, *stray, valid_until, at);
                let waited = self.beside.line.leave(hold);
                let mine = self.give_back(hold);
                self.serve(mine || waited, at, post)
            }
            Op::Raise { hold, token } => {
                // Others' holds need no token that is remembered.
                self.beside.holds.retain(|other| other.id == *hold);
                self.beside.raise(hold, token.as_u64(), at)
            }
            Op::Yield { .. } => unreachable!("a mutex is given back instead"),
            Op::Inspect => Reply::Info(self.inspect(at)),
        }
    }

    /// Whether it was this one's.
    pub(super) fn give_back(&mut self, id: &HoldId) -> bool {
        let mine = self.held.take_if(|held| held.value.is(id)).is_some();
        if mine {
            self.beside.holds.clear();
            self.passed = None;
        }
        mine
    }

    /// Hands a mutex that has become free to the first in line, or leaves it free for a moment.
    fn serve(&mut self, found: bool, at: Moment, post: &mut Post<'_>) -> Reply {
        if !found {
            return Reply::Gone;
        }
        self.beside.clear_away(at.now);
        let first = self
            .beside
            .line
            .first(LockMode::Write)
            .map(|first| first.id.clone());
        let taken = self.held.is_some() || self.moments.free_until(at.real).is_some();
        match first {
            _ if taken => {}
            None => self.moments.is_left(),
            Some(_) if self.moments.let_in(at.real) => self.beside.pass_on(at.now, post),
            Some(first) => {
                post.tell(&Message::Look(first));
            }
        }
        Reply::Done
    }

    fn inspect(&self, at: Moment) -> LockInfo {
        let mut info = self.beside.inspect(at.now);
        let holders = self.held.iter().map(|held| HoldInfo {
            id: held.value.to_string(),
            mode: LockMode::Write,
            remaining: Duration::from_micros(held.left(at.real)),
            token: None,
            held_for: None,
            owner: None,
        });
        info.holders = holders.collect();
        info
    }
}
