//! What is recorded of a lock, and what time does to it.

use std::time::Duration;

use super::acquire::Ask;
use super::hold::Hold;
use super::line::Line;
use crate::mode::Mode;
use crate::protocol::{Message, Op, Reply, forget_after, whole_millis};

/// How long a lock is remembered beyond its latest deadline, rounded up.
const GRACE_MILLIS: u64 = 1001;

/// One lock.
#[derive(Debug, Default)]
pub(in crate::store::memory) struct Lock {
    /// The last token granted. Time does not go back behind it.
    pub(super) last: u64,
    /// The latest deadline promised to a hold or a waiter since the lock was last free.
    latest: u64,
    pub(super) holds: Vec<Hold>,
    pub(super) line: Line,
}

impl Lock {
    /// Carries out one operation at a server time; the reply, and whom it lets in.
    pub(in crate::store::memory) fn apply(&mut self, op: &Op, time: u64) -> (Reply, Vec<Message>) {
        let now = time.max(self.last);
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
                queue,
            } => {
                let ask = Ask {
                    id: hold,
                    mode: *mode,
                    owner: owner.as_ref(),
                    deadline: after(now, whole_millis(*lease)),
                    place_until: queue.map(|queue| after(now, queue)),
                };
                (self.acquire(&ask, now), Vec::new())
            }
            Op::Renew { hold, lease } => (
                self.renew(hold, after(now, whole_millis(*lease)), now),
                Vec::new(),
            ),
            Op::Release {
                hold,
                handed,
                lease,
            } => {
                let answer = self.release(hold, *handed, now);
                if answer.0 == Reply::Done
                    && self.is_free()
                    && let Some(forget) = forget_after(*lease)
                {
                    self.latest = after(time, forget);
                }
                answer
            }
            Op::Abandon { hold } => self.abandon(hold, now),
            Op::Yield {
                hold,
                handed,
                lease,
            } => self.yield_now(hold, *handed, whole_millis(*lease), now),
            Op::Inspect => (Reply::Info(self.inspect(now)), Vec::new()),
        }
    }

    /// Whether nobody holds or waits.
    pub(in crate::store::memory) fn is_free(&self) -> bool {
        self.holds.is_empty() && self.line.is_empty()
    }

    /// Whether even the last token is forgotten. (In whole milliseconds, as keys expire in Redis.)
    pub(in crate::store::memory) fn is_forgotten(&self, time: u64) -> bool {
        time >= (self.latest / 1000 + GRACE_MILLIS) * 1000
    }

    pub(in crate::store::memory) fn last_token(&self) -> u64 {
        self.last
    }

    pub(super) fn is_write_held(&self) -> bool {
        self.holds.iter().any(|hold| hold.mode == Mode::Write)
    }

    /// Expired holds and waiters that did not refresh their place are no longer there.
    pub(super) fn clear_away(&mut self, now: u64) {
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

    /// The lock is free: what was promised before does not count any more.
    pub(super) fn start_afresh(&mut self) {
        self.latest = 0;
    }
}

/// The end of a span that starts now.
pub(super) fn after(now: u64, span: Duration) -> u64 {
    now.saturating_add(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}
