//! The record of a lock, and how time changes it; a moment is the time of the server with that of the lock.

use std::collections::HashMap;
use std::time::Duration;

use super::acquire::Ask;
use super::hold::Hold;
use super::line::{Line, Post};
use super::release::Slice;
use crate::kind::LockMode;
use crate::protocol::{HoldId, Op, Reply, Stray, whole_millis};

/// How long a lock is remembered beyond its latest deadline, rounded up.
const GRACE_MILLIS: u64 = 1001;

/// How long a free lock is remembered at most, in µs.
pub(super) const MEMORY: u64 = 60_000_000;

/// In what steps a time is noted, in µs.
const NOTED: u64 = 500_000;

/// A lock's time stands still for at most this long, in µs, when the server's clock is set back; a larger step is made up
/// for.
const STEP: u64 = 1_000_000;

/// One lock.
#[derive(Debug, Default)]
pub(in crate::store::memory) struct Lock {
    /// The last token granted. Time does not go back behind it.
    pub(super) last: u64,
    /// The last time that was noted beside it. Time does not go back behind that either.
    pub(super) noted: u64,
    /// How far the lock's time is ahead of the server's, since the server's clock was set back.
    pub(super) offset: u64,
    /// The latest deadline promised to a hold or a waiter since the lock was last free.
    latest: u64,
    /// A token from elsewhere that the server's clock has not come to yet.
    pub(super) raised: u64,
    pub(super) holds: Vec<Hold>,
    pub(super) line: Line,
    /// Acquires that must have no effect any more, and until when (server's time).
    buried: HashMap<HoldId, u64>,
}

impl Lock {
    /// Carries out one operation at a server time; messages go out by `post`.
    pub(in crate::store::memory) fn apply(
        &mut self,
        op: &Op,
        valid_until: u64,
        time: u64,
        post: &mut Post<'_>,
    ) -> Reply {
        if self.raised <= time {
            self.raised = 0;
        }
        let (at, reply) = loop {
            // Time does not go back behind tokens that were granted meanwhile without a waiter that received them.
            let at = self.moment(time);
            let reply = self.carry_out(op, valid_until, at, post);
            if !matches!(reply, Reply::Again) {
                break (at, reply);
            }
            self.offset = at.offset;
        };
        self.conclude(op, &reply, valid_until, at);
        reply
    }

    /// What has found nothing leaves nothing behind.
    pub(super) fn conclude(&mut self, op: &Op, reply: &Reply, valid_until: u64, at: Moment) {
        let found = match op {
            Op::Inspect => false,
            Op::Acquire { .. } => !matches!(reply, Reply::TooLate(_) | Reply::Gone),
            _ => !matches!(reply, Reply::Gone),
        };
        let frees = found && self.is_free() && op.passes_on();
        let buries = valid_until > 0
            && op.stray() == Stray::Possible
            && matches!(
                op,
                Op::Release { .. } | Op::Renew { .. } | Op::Abandon { .. }
            );
        if found || buries {
            self.offset = self.offset.max(at.offset);
            if frees {
                // No hold depends on the lock's own time any more, and the times to remember are in the server's.
                self.latest = self.latest.saturating_sub(self.offset);
                (self.offset, self.noted) = (0, 0);
            }
        }
    }

    /// When an operation is carried out at a server time.
    pub(super) fn moment(&self, time: u64) -> Moment {
        Moment::of(time, self.offset, self.last.max(self.noted))
    }

    /// Notes what time it is, in case the clock is set back; now and then.
    pub(super) fn note_time(&mut self, now: u64) {
        if now - self.last.max(self.noted) >= NOTED {
            self.noted = now;
        }
    }

    fn carry_out(&mut self, op: &Op, valid_until: u64, at: Moment, post: &mut Post<'_>) -> Reply {
        let now = at.now;
        if let Op::Acquire { hold, .. } = op {
            if valid_until < at.real {
                return Reply::TooLate(at.real);
            }
            if self.is_buried(hold, at) {
                return Reply::Gone;
            }
        }
        // The others have nothing to clear away, or do so later.
        if matches!(
            op,
            Op::Acquire { .. } | Op::Abandon { .. } | Op::Yield { .. }
        ) {
            self.clear_away(now);
        }
        match op {
            Op::Acquire {
                hold,
                mode,
                lease,
                owner,
                place,
            } => {
                let ask = Ask {
                    id: hold,
                    mode: *mode,
                    owner: owner.as_ref(),
                    lease: whole_millis(*lease),
                    place: *place,
                };
                self.acquire(&ask, at, post)
            }
            Op::Renew {
                hold,
                lease,
                extent,
            } => self.renew(hold, whole_millis(*lease), *extent, valid_until, at),
            Op::Release {
                hold, stray, spent, ..
            } => {
                self.bury(hold, *stray, valid_until, at);
                self.release(hold, *spent, at, post)
            }
            Op::Abandon { hold, stray } => {
                self.bury(hold, *stray, valid_until, at);
                self.abandon(hold, at, post)
            }
            Op::Yield {
                hold,
                lease,
                seen,
                stray,
                spent,
            } => {
                let slice = Slice {
                    id: hold,
                    lease: whole_millis(*lease),
                    seen: *seen,
                    spent: *spent,
                };
                let reply = self.yield_now(&slice, at, post);
                if reply == Reply::Done && !self.holds.iter().any(|other| other.id == *hold) {
                    self.bury(hold, *stray, valid_until, at);
                }
                reply
            }
            Op::Raise { hold, token } => self.raise(hold, token.as_u64(), at),
            Op::Inspect => Reply::Info(self.inspect(now)),
        }
    }

    /// Whether no client holds or waits.
    pub(in crate::store::memory) fn is_free(&self) -> bool {
        self.holds.is_empty() && self.line.is_empty()
    }

    /// Whether all there is to remember is the last token.
    pub(in crate::store::memory) fn is_idle(&self) -> bool {
        self.is_free() && self.buried.is_empty() && self.raised == 0
    }

    /// Whether even the last token is forgotten. (In whole milliseconds, as keys expire in Redis.)
    pub(in crate::store::memory) fn is_forgotten(&self, time: u64, slack: u64) -> bool {
        time >= self.remembered_until().saturating_add(slack)
    }

    /// The server's time until which the last token is remembered, at least.
    pub(in crate::store::memory) fn remembered_until(&self) -> u64 {
        let latest = self.latest.saturating_sub(self.offset);
        (latest.max(self.raised) / 1000 + GRACE_MILLIS) * 1000
    }

    /// The lock's time when the server's is `real`.
    pub(in crate::store::memory) fn time(&self, real: u64) -> u64 {
        self.moment(real).now
    }

    pub(in crate::store::memory) fn last_token(&self) -> u64 {
        self.last
    }

    pub(super) fn is_write_held(&self) -> bool {
        self.holds.iter().any(|hold| hold.mode == LockMode::Write)
    }

    /// Expired holds and waiters that did not refresh their place are no longer there.
    pub(super) fn clear_away(&mut self, now: u64) {
        if self.is_free() {
            return;
        }
        self.drop_holds(|hold| hold.deadline <= now);
        self.line.drop_dead(now);
    }

    /// Takes holds away. When the last write hold goes, a write phase ends.
    pub(super) fn drop_holds(&mut self, gone: impl Fn(&Hold) -> bool) {
        let was_write_held = self.is_write_held();
        self.holds.retain(|hold| !gone(hold));
        if was_write_held && !self.is_write_held() {
            self.line.end_write_phase();
        }
    }

    pub(super) fn promise(&mut self, deadline: u64) {
        self.latest = self.latest.max(deadline);
    }

    /// The lock's time has made a step.
    pub(super) fn shift_promises(&mut self, step: u64) {
        self.latest += step;
    }

    /// The lock is free: what was promised before does not count any more.
    pub(super) fn start_afresh(&mut self) {
        self.latest = 0;
    }

    /// A free lock is not remembered for long, whatever leases there were. (By the server's clock: the lock's time may
    /// stand still, ahead of it.)
    pub(super) fn settle_if_free(&mut self, at: Moment) {
        if self.is_free() {
            self.latest = self.latest.min(at.real + at.offset + MEMORY);
        }
    }

    pub(super) fn is_buried(&mut self, id: &HoldId, at: Moment) -> bool {
        if self.buried.is_empty() {
            return false;
        }
        self.buried.retain(|_, until| *until > at.real);
        self.buried.contains_key(id)
    }

    /// An acquire that may still be on its way has no effect until then.
    pub(super) fn bury(&mut self, id: &HoldId, stray: Stray, until: u64, at: Moment) {
        if !self.buried.is_empty() {
            self.buried.retain(|_, until| *until > at.real);
        }
        if stray == Stray::None || until <= at.real || self.buried.contains_key(id) {
            return;
        }
        self.last = self.last.max(if self.last == 0 { at.now } else { 0 });
        // For a minute at most: requests are valid for less, unless the server's clock has been set back since, or its
        // client saw another one that was ahead.
        let until = until.min(at.real + MEMORY);
        self.buried.insert(id.clone(), until);
        self.promise(until + at.offset);
    }
}

/// One moment.
#[derive(Debug, Clone, Copy)]
pub(in crate::store::memory) struct Moment {
    /// The server's time in µs.
    pub(super) real: u64,
    /// The lock's time, by which deadlines and tokens go.
    pub(super) now: u64,
    /// How far that is ahead of the server's clock.
    pub(super) offset: u64,
}

impl Moment {
    /// A lock's time does not go back behind the last one that is known, and goes on at the server's pace.
    pub(super) fn of(real: u64, mut offset: u64, known: u64) -> Self {
        let mut now = real + offset;
        if now < known {
            if known - now > STEP {
                offset = known - real;
            }
            now = known;
        }
        Self { real, now, offset }
    }
}

/// The end of a span that starts now.
pub(super) fn after(now: u64, span: Duration) -> u64 {
    now.saturating_add(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}
