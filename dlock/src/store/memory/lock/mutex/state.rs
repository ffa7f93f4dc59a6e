//! What each operation does to a mutex.

use std::time::Duration;

use super::moments::Moments;
use super::string::{Held, Value};
use crate::mode::Mode;
use crate::protocol::{
    Extent, HoldId, HoldInfo, LockInfo, Message, Op, Reply, Stray, whole_millis,
};
use crate::store::memory::lock::acquire::Ask;
use crate::store::memory::lock::moment::Moment;
use crate::store::memory::lock::state::{Lock, MEMORY, after};
use crate::store::memory::post::Post;
use crate::token::ServerToken;

/// One mutex.
#[derive(Debug, Default)]
pub(in crate::store::memory) struct Mutex {
    pub(super) held: Option<Held>,
    /// The last hold that was given its end: it stays until then, although a copy of it has no effect.
    ended: Option<Held>,
    /// The line, the last token and the notes; it has the hold only while an operation is carried out.
    beside: Lock,
    moments: Moments,
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
            self.ended = None;
        }
        loop {
            let at = self.beside.moment(time);
            self.beside.holds = self
                .held
                .iter()
                .filter_map(|held| held.as_hold(at))
                .collect();
            let reply = self.carry_out(op, fenced, valid_until, at, post);
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

    /// Who was let in holds the string.
    fn take_over(&mut self, at: Moment) {
        if self.held.is_none()
            && let Some(hold) = self.beside.holds.first()
        {
            // The tokens of those who did not hear have moved the lock's time on.
            let now = at.now.max(hold.token);
            let lease = Duration::from_millis(((hold.deadline - now) / 1000).max(1));
            self.held = Some(Held::new(Value::Own(hold.id.clone()), at.real, lease));
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

    /// When it was left free, since when it was not, and for how long it may not be.
    pub(in crate::store::memory) fn moments(&self) -> [Option<u64>; 3] {
        self.moments.times()
    }

    /// What is kept beside the string.
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
                    mode: Mode::Write,
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
                    // Who waited and then had the mutex by a plain `SET`.
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

    fn acquire(&mut self, ask: &Ask<'_>, fenced: bool, at: Moment, post: &mut Post<'_>) -> Reply {
        let (now, real) = (at.now, at.real);
        if let Some(id) = self.stray(at).filter(|id| id != ask.id) {
            self.give_back(&id);
        }
        if let Some(held) = self.held.as_mut().filter(|held| held.value.is(ask.id)) {
            let until = after(real, ask.lease) / 1000;
            held.until = held.until.max(Some(until));
            if fenced {
                self.beside.promise(now + held.left(real));
                if self.beside.last == 0 {
                    self.beside.last = now;
                }
            }
            let token = match self.beside.last {
                0 => now,
                last => last,
            };
            return Reply::Granted(ServerToken::new(token));
        }
        if let Some(place) = ask.place {
            self.beside.hears(ask.id, place);
        }
        let free_until = self.moments.free_until(real);
        let blocked = match (&self.held, free_until) {
            (Some(held), _) => Some(now + held.left(real) + 1000),
            (None, Some(until)) => Some(now + until - real),
            (None, None) => self.beside.line.keeps_out(Mode::Write, ask.id),
        };
        let Some(blocked) = blocked else {
            return self.grant(ask, fenced, at);
        };
        let foreign =
            (self.held.as_ref()).is_some_and(|held| matches!(held.value, Value::Foreign(_)));
        if foreign && (ask.place.is_some() || self.beside.last > 0) {
            self.moments.note_foreign(real);
        }
        if ask.place.is_some() {
            self.moments.begin(real);
            if self.beside.last == 0 {
                self.beside.last = now;
            }
        }
        let reply = self
            .beside
            .refuse(ask, now, Duration::from_micros(blocked - now));
        let alone = self.held.is_none() && free_until.is_none();
        if matches!(reply, Reply::Queued { .. }) && alone && self.beside.rouse(ask.id, now, post) {
            return Reply::Again;
        }
        reply
    }

    fn grant(&mut self, ask: &Ask<'_>, fenced: bool, at: Moment) -> Reply {
        let beside = &mut self.beside;
        let token = at.now.max(beside.last + 1);
        beside.line.leave(ask.id);
        if fenced || beside.last > 0 {
            beside.last = token;
            if fenced {
                beside.promise(after(at.now, ask.lease));
            }
        }
        let held = Held::new(Value::Own(ask.id.clone()), at.real, ask.lease);
        beside.holds.extend(held.as_hold(at));
        self.held = Some(held);
        Reply::Granted(ServerToken::new(token))
    }

    fn renew(
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
        }
        Reply::Done
    }

    /// The holder, if that has given up by now: a plain `SET`, or a copy of it, that came late, or who was to have an end
    /// by now.
    fn stray(&mut self, at: Moment) -> Option<HoldId> {
        let held = self.held.as_ref()?;
        let Value::Own(id) = held.value.clone() else {
            return None;
        };
        let ended = self.ended.as_ref().filter(|ended| ended.value.is(&id));
        let ends = ended.is_some_and(|ended| held.until <= ended.until);
        (!ends && self.beside.is_buried(&id, at)).then_some(id)
    }

    /// Whether it was this one's.
    fn give_back(&mut self, id: &HoldId) -> bool {
        let mine = self.held.take_if(|held| held.value.is(id)).is_some();
        if mine {
            self.beside.holds.clear();
        }
        mine
    }

    /// Lets the first in line have a mutex that has become free, or nobody for a moment.
    fn serve(&mut self, found: bool, at: Moment, post: &mut Post<'_>) -> Reply {
        if !found {
            return Reply::Gone;
        }
        self.beside.clear_away(at.now);
        let first = self
            .beside
            .line
            .first(Mode::Write)
            .map(|first| first.id.clone());
        let taken = self.held.is_some() || self.moments.free_until(at.real).is_some();
        if let (Some(first), false) = (first, taken) {
            if self.moments.let_in(at.real) {
                self.beside.pass_on(at.now, post);
            } else {
                post.tell(&Message::Look(first));
            }
        }
        Reply::Done
    }

    fn inspect(&self, at: Moment) -> LockInfo {
        let mut info = self.beside.inspect(at.now);
        let holders = self.held.iter().map(|held| HoldInfo {
            id: held.value.to_string(),
            mode: Mode::Write,
            remaining: Duration::from_micros(held.left(at.real)),
            token: None,
            held_for: None,
            owner: None,
        });
        info.holders = holders.collect();
        info
    }
}
