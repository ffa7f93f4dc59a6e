//! Taking a mutex, and extending its hold or giving it its end.

use std::time::Duration;

use super::Mutex;
use super::string::{Held, Value};
use crate::kind::LockMode;
use crate::protocol::{Extent, HoldId, Reply, Stray};
use crate::store::memory::lock::acquire::Ask;
use crate::store::memory::lock::line::Post;
use crate::store::memory::lock::state::{MEMORY, Moment, after};
use crate::token::ServerToken;

/// ms: how much later than it should a hold may seem to end on servers, where two clocks are read one after the other.
const PASSING: u64 = 1000;

impl Mutex {
    pub(super) fn acquire(
        &mut self,
        ask: &Ask<'_>,
        fenced: bool,
        at: Moment,
        post: &mut Post<'_>,
    ) -> Reply {
        let (now, real) = (at.now, at.real);
        if let Some(until) = self.passed_on(ask, at) {
            // It joins the line without a look.
            return (self.beside).refuse(ask, now, Duration::from_micros(until - now));
        }
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
            self.beside.hears(ask.id, place, now);
        }
        let free_until = self.moments.free_until(real);
        let blocked = match (&self.held, free_until) {
            (Some(held), _) => Some(now + held.left(real) + 1000),
            (None, Some(until)) => Some(now + until - real),
            (None, None) => self.beside.line.keeps_out(LockMode::Write, ask.id),
        };
        let Some(blocked) = blocked else {
            return self.grant(ask, fenced, at);
        };
        let foreign =
            (self.held.as_ref()).is_some_and(|held| matches!(held.value, Value::Foreign(_)));
        if foreign && (ask.place.is_some() || self.beside.last > 0) {
            self.moments.note_foreign(real);
        }
        if ask.place.is_some() && self.beside.last == 0 {
            self.beside.last = now;
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
        self.moments.is_taken();
        self.passed = None;
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

    /// Until when the mutex belongs to another client to which it was handed over, for a new waiter.
    fn passed_on(&self, ask: &Ask<'_>, at: Moment) -> Option<u64> {
        let (holder, until) = self.passed.as_ref()?;
        let comes_anew = ask.place.is_some()
            && holder != ask.id
            && !(self.beside.line.of(LockMode::Write).iter()).any(|waiter| waiter.id == *ask.id);
        let is_moment = self.moments.free_until(at.real).is_some();
        (comes_anew && !is_moment && *until > at.now).then_some(*until)
    }

    /// The holder, if it has given up by now: a plain `SET`, or a duplicate of it, arrived late, or the hold should have ended by
    /// now.
    fn stray(&mut self, at: Moment) -> Option<HoldId> {
        let held = self.held.as_ref()?;
        let Value::Own(id) = held.value.clone() else {
            return None;
        };
        let ended = self.ended.as_ref().filter(|ended| ended.value.is(&id));
        let late = |until: u64| until + PASSING;
        let ends = ended.is_some_and(|ended| held.until <= ended.until.map(late));
        (!ends && self.beside.is_buried(&id, at)).then_some(id)
    }
}

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
