//! The line, as far as the outside can see it: locks are looked at again and again while no fault is at work, and what is known
//! to be in between two looks must be in order:
//!
//! * a writer enters before no writer who has a place before its own;
//! * a reader who was not there at the first look enters before no writer who was, if some reader held the lock all the time;
//! * a writer enters after another one before no reader who had a place while that one held the lock.
//!
//! Only waiters count whose places cannot have run out in between. Owners who have the lock already go past the line. So do all
//! waiters, past one without a subscription: a machine that stands still for a moment makes impatient clients connect again.

use std::collections::BTreeMap;

use dlock::{HoldInfo, LockInfo, LockMode, WaiterInfo};
use dlock_tests::history::Seconds;

use super::Verdict;
use crate::driver::Sample;

/// Looks that are further apart have stood still themselves.
const LOOKS: u64 = 100_000_000;
/// What clients take to listen again.
const RECOVERY: u64 = 2_000_000_000;

pub(super) fn judge(samples: &[Sample], stalls: &[(u64, u64)], verdict: &mut Verdict) {
    let mut before: BTreeMap<usize, &Sample> = BTreeMap::new();
    for sample in samples {
        let Some(before) = before.insert(sample.lock, sample) else {
            continue;
        };
        let passed = sample.answered - before.asked;
        let stood_still = stalls
            .iter()
            .any(|(at, _)| *at + RECOVERY > before.asked && *at < sample.answered);
        if passed < LOOKS
            && !stood_still
            && let Some(story) = overtaken(&before.info, &sample.info, passed)
        {
            let (from, to) = (Seconds(before.asked), Seconds(sample.answered));
            let story = format!("lock {} from {from} to {to}: {story}", sample.lock);
            verdict.object("order", story);
        }
    }
}

/// Tasks that entered between two looks that were `passed` apart at most, and should have waited.
fn overtaken(before: &LockInfo, after: &LockInfo, passed: u64) -> Option<String> {
    let stays = |waiter: &&WaiterInfo, mode| {
        waiter.mode == mode
            && waiter.remaining.as_nanos() > u128::from(passed)
            && after.waiters.iter().any(|other| other.id == waiter.id)
    };
    let is_new = |hold: &&HoldInfo| {
        hold.owner.is_none() && before.holders.iter().all(|other| other.id != hold.id)
    };
    let read_all_the_time = before.holders.iter().any(|hold| {
        // Beside an owner's the same owner may have written, after which it is the readers' turn.
        let keeps_writers_out = hold.mode == LockMode::Read && hold.owner.is_none();
        keeps_writers_out && after.holders.iter().any(|other| other.id == hold.id)
    });
    let ended = |hold: &HoldInfo| {
        hold.mode == LockMode::Write && after.holders.iter().all(|other| other.id != hold.id)
    };
    let another_wrote = before.holders.iter().any(ended);
    let writer = |waiter: &&WaiterInfo| stays(waiter, LockMode::Write);
    let reader = |waiter: &&WaiterInfo| stays(waiter, LockMode::Read);
    for hold in after.holders.iter().filter(is_new) {
        let place = before
            .waiters
            .iter()
            .position(|waiter| waiter.id == hold.id);
        let first = match (hold.mode, place) {
            // Writers are listed in the order of their places.
            (LockMode::Write, Some(place)) => before.waiters[..place].iter().find(writer),
            (LockMode::Read, None) if read_all_the_time => before.waiters.iter().find(writer),
            _ => None,
        };
        let turn = before.waiters.iter().find(reader);
        let turn = turn.filter(|_| hold.mode == LockMode::Write && another_wrote);
        let first = first.or(turn);
        if let Some(first) = first {
            return Some(format!("{} entered before {}", hold.id, first.id));
        }
    }
    None
}
