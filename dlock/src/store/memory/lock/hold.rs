//! The holds of a lock: what is recorded of each, how it is extended or given its end, how it takes over a token of another
//! server, and how an inspection lists the holds and the waiters.

use std::sync::Arc;
use std::time::Duration;

use super::state::{Lock, MEMORY, Moment, after};
use crate::kind::LockMode;
use crate::protocol::{Extent, HoldId, HoldInfo, LockInfo, Reply, Stray, WaiterInfo};
use crate::token::{FencingToken, ServerToken};

/// A client holds the lock until `deadline`.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) id: HoldId,
    pub(super) mode: LockMode,
    pub(super) owner: Option<Arc<str>>,
    pub(super) deadline: u64,
    pub(super) token: u64,
}

impl Hold {
    /// Whether this hold is another owner's. Without an owner, each hold stands for itself.
    pub(super) fn is_of_another(&self, owner: Option<&str>) -> bool {
        self.owner.is_none() || self.owner.as_deref() != owner
    }
}

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
        if id.lingers() && !self.line.is_empty() {
            return Reply::Wanted;
        }
        Reply::Done
    }
}

impl Lock {
    /// From here on tokens are larger than this one. If it is ahead of the clock, the lock's time goes on to it, and with
    /// it the ends of all holds: no lease gets shorter. It is remembered until the clock has come to it, whether the lock is
    /// held or not; the answer tells whether it is by this hold.
    pub(super) fn raise(&mut self, id: &HoldId, token: u64, at: Moment) -> Reply {
        let held = |hold: &Hold| hold.id == *id && hold.deadline > at.now;
        let is_held = self.holds.iter().any(held);
        if !is_held && token < at.now {
            return Reply::Gone;
        }
        self.last = self.last.max(token);
        let known = self.last.max(self.noted);
        let mut then = Moment::of(at.real, at.offset, known);
        let other = |hold: &Hold| hold.id != *id && hold.deadline > at.now;
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

/// How many holds, and how many waiters, are listed.
const LISTED: usize = 100;

impl Lock {
    pub(super) fn inspect(&self, now: u64) -> LockInfo {
        let live = self.holds.iter().filter(|hold| hold.deadline > now);
        let mut holders: Vec<_> = live
            .map(|hold| HoldInfo {
                id: hold.id.to_string(),
                mode: hold.mode,
                remaining: Duration::from_micros(hold.deadline - now),
                token: Some(FencingToken::first_of(ServerToken::new(hold.token))),
                held_for: Some(Duration::from_micros(now.saturating_sub(hold.token))),
                owner: hold.owner.as_deref().map(str::to_owned),
            })
            .collect();
        let more_holders = cut(&mut holders);
        holders.sort_by(|a, b| a.id.cmp(&b.id));
        let mut waiters: Vec<_> = [LockMode::Write, LockMode::Read]
            .into_iter()
            .flat_map(|mode| self.line.of(mode))
            .filter(|waiter| waiter.deadline > now)
            .map(|waiter| WaiterInfo {
                id: waiter.id.to_string(),
                mode: waiter.mode,
                remaining: Duration::from_micros(waiter.deadline - now),
                waiting_for: Duration::from_micros(now.saturating_sub(waiter.since)),
            })
            .collect();
        let more_waiters = cut(&mut waiters);
        LockInfo {
            last_token: (self.last > 0)
                .then(|| FencingToken::first_of(ServerToken::new(self.last))),
            holders,
            waiters,
            more_holders,
            more_waiters,
        }
    }
}

/// Shortens a list to what an inspection shows, and says by how much.
fn cut<T>(list: &mut Vec<T>) -> u64 {
    let more = list.len().saturating_sub(LISTED);
    list.truncate(LISTED);
    more as u64
}
