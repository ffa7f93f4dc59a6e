//! Looking at a lock.

use std::time::Duration;

use super::state::Lock;
use crate::mode::LockMode;
use crate::protocol::{HoldInfo, LockInfo, WaiterInfo};
use crate::token::{FencingToken, ServerToken};

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
