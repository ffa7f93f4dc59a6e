//! Looking at a lock.

use std::time::Duration;

use super::state::Lock;
use crate::mode::Mode;
use crate::protocol::{HoldInfo, LockInfo, WaiterInfo};
use crate::token::FencingToken;

impl Lock {
    pub(super) fn inspect(&self, now: u64) -> LockInfo {
        let live = self.holds.iter().filter(|hold| hold.deadline > now);
        let mut holders: Vec<_> = live
            .map(|hold| HoldInfo {
                id: hold.id.to_string(),
                mode: hold.mode,
                remaining: Duration::from_micros(hold.deadline - now),
                token: FencingToken::new(hold.token),
                owner: hold.owner.as_deref().map(str::to_owned),
            })
            .collect();
        holders.sort_by(|a, b| a.id.cmp(&b.id));
        let waiters = [Mode::Write, Mode::Read]
            .into_iter()
            .flat_map(|mode| self.line.of(mode))
            .filter(|waiter| waiter.deadline > now)
            .map(|waiter| WaiterInfo {
                id: waiter.id.to_string(),
                mode: waiter.mode,
                remaining: Duration::from_micros(waiter.deadline - now),
            })
            .collect();
        LockInfo {
            last_token: (self.last > 0).then(|| FencingToken::new(self.last)),
            holders,
            waiters,
        }
    }
}
