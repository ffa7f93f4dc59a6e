//! What is recorded of a lock, and what time does to it.

use std::time::Duration;

use super::acquire::Ask;
use super::hold::Hold;
use super::line::Line;
use crate::mode::Mode;
use crate::protocol::{HoldId, Op, Reply};

/// How long the last token is remembered when nothing else is.
const GRACE_MILLIS: u64 = 1000;

/// One lock.
#[derive(Debug, Default)]
pub(in crate::store::memory) struct Lock {
    /// The last token granted. Time does not go back behind it.
    pub(super) last: u64,
    /// The latest deadline promised to a hold or a waiter since the lock was last free.
    latest: Option<u64>,
    /// When it was last free.
    freed: u64,
    pub(super) holds: Vec<Hold>,
    pub(super) line: Line,
}

impl Lock {
    /// Carries out one operation at a server time; the reply, and whom it lets in.
    pub(in crate::store::memory) fn apply(&mut self, op: &Op, time: u64) -> (Reply, Vec<HoldId>) {
        let now = time.max(self.last);
        self.clear_away(now);
        match op {
            Op::Acquire {
                hold,
                mode,
                lease,
                owner,
                queue,
            } => {
                let ask = Ask {
                    id: hold,
                    mode: *mode,
                    owner: owner.as_ref(),
                    deadline: after(now, *lease),
                    place_until: queue.map(|queue| after(now, queue)),
                };
                (self.acquire(&ask, now), Vec::new())
            }
            Op::Renew { hold, lease } => (self.renew(hold, after(now, *lease)), Vec::new()),
            Op::Release { hold, last_token } => self.release(hold, last_token.as_u64(), now),
            Op::Abandon { hold } => self.abandon(hold, now),
            Op::Yield {
                hold,
                last_token,
                lease,
            } => self.yield_now(hold, last_token.as_u64(), *lease, now),
            Op::Inspect => (Reply::Info(self.inspect(now)), Vec::new()),
        }
    }

    /// Whether nobody holds or waits.
    pub(in crate::store::memory) fn is_free(&self) -> bool {
        self.holds.is_empty() && self.line.is_empty()
    }

    /// Whether even the last token is forgotten. (In whole milliseconds, as keys expire in Redis.)
    pub(in crate::store::memory) fn is_forgotten(&self, time: u64) -> bool {
        let since = self.latest.unwrap_or(self.freed);
        time >= (since.div_ceil(1000) + GRACE_MILLIS) * 1000
    }

    pub(in crate::store::memory) fn last_token(&self) -> u64 {
        self.last
    }

    pub(super) fn is_write_held(&self) -> bool {
        self.holds.iter().any(|hold| hold.mode == Mode::Write)
    }

    /// Expired holds and waiters that did not refresh their place are no longer there.
    fn clear_away(&mut self, now: u64) {
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
        self.latest = self.latest.max(Some(deadline));
    }

    /// Nobody holds or waits: only the last token is kept for a while.
    pub(super) fn set_free(&mut self, now: u64) {
        self.latest = None;
        self.freed = now.max(self.last);
    }
}

/// The end of a span that starts now.
pub(super) fn after(now: u64, span: Duration) -> u64 {
    now.saturating_add(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}
