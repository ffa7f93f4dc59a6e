//! What several servers say of one lock, and what is known of holds that keep contenders out.

use std::collections::BTreeMap;
use std::time::Duration;

use super::members::{Members, majority};
use crate::clock::Instant;
use crate::key::LockKey;
use crate::protocol::{HoldInfo, LockInfo};
use crate::random::HashMap;
use crate::sync::Mutex;

/// The state of a lock, from the answers of some of so many members. A hold is shown if a majority may have it; a member that has
/// not answered may have it. A hold at fewer members is an attempt, or what is left of one.
pub(super) fn merge(infos: Vec<LockInfo>, members: usize) -> LockInfo {
    let unheard = members - infos.len();
    merge_at_least(
        infos,
        members,
        majority(members).saturating_sub(unheard).max(1),
    )
}

/// The state of a lock, with the holds that a majority certainly has.
pub(super) fn merge_certain(infos: Vec<LockInfo>, members: usize) -> LockInfo {
    merge_at_least(infos, members, majority(members))
}

fn merge_at_least(infos: Vec<LockInfo>, members: usize, least: usize) -> LockInfo {
    let mut merged = LockInfo::default();
    let mut holds = BTreeMap::<String, Vec<HoldInfo>>::new();
    for info in infos {
        merged.last_token = merged.last_token.max(info.last_token);
        merged.more_holders = merged.more_holders.max(info.more_holders);
        for hold in info.holders {
            holds.entry(hold.id.clone()).or_default().push(hold);
        }
    }
    let enough = holds.into_values().filter(|same| same.len() >= least);
    merged.holders = enough.map(|same| one(same, members)).collect();
    merged
}

/// One hold, as several members have recorded it. It is over when the last majority of them is.
fn one(mut same: Vec<HoldInfo>, members: usize) -> HoldInfo {
    same.sort_by_key(|hold| std::cmp::Reverse(hold.remaining));
    let decisive = majority(members).min(same.len()) - 1;
    let remaining = same[decisive].remaining;
    let token = same.iter().map(|hold| hold.token).max();
    let held_for = same.iter().map(|hold| hold.held_for).max();
    let mut hold = same.swap_remove(decisive);
    hold.remaining = remaining;
    hold.token = token.unwrap_or(hold.token);
    hold.held_for = held_for.unwrap_or(hold.held_for);
    hold
}

/// How far apart members may say that one hold ends.
pub(super) const TOGETHER: Duration = Duration::from_millis(50);
/// For how long the member where contenders meet is believed that has the same hold all the time. A lock that is free is
/// idle for as long if that hold is not the lock's.
const DOUBT: Duration = Duration::from_millis(200);
/// For how long a lock is remembered that no task asks for.
const MEMORY: Duration = Duration::from_secs(10);
/// From how many locks on forgotten ones are removed.
const CROWD: usize = 1_000;

/// The refusals of the member where contenders meet, for each lock that tasks wait for.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    locks: Mutex<Locks>,
}

#[derive(Debug, Default)]
struct Locks {
    seen: HashMap<LockKey, Seen>,
    crowd: usize,
}

/// The hold that was seen last at a lock.
#[derive(Debug)]
struct Seen {
    end: Instant,
    /// Since when it has been there, or when other members were asked last.
    since: Instant,
    last: Instant,
    /// The members that have a hold that is not the lock's.
    astray: Members,
}

impl Refusals {
    /// Whether the refusal of one member, whose hold ends then, is not enough: the member has reported the same end for a while.
    /// Then one waiter of each client asks the other members.
    pub(super) fn doubts(&self, key: &LockKey, end: Instant) -> bool {
        let now = Instant::now();
        let mut locks = self.locks.lock();
        let Some(seen) = locks.seen.get_mut(key) else {
            locks.put(key, end, now);
            return false;
        };
        let is_same = seen.end.max(end) - seen.end.min(end) < TOGETHER;
        let is_due = is_same && now - seen.since >= DOUBT;
        if !is_same {
            seen.end = end;
        }
        if is_due || !is_same {
            seen.since = now;
        }
        seen.last = now;
        is_due
    }

    /// The members with a hold that a majority does not have. Contenders do not meet there.
    pub(super) fn astray(&self, key: &LockKey) -> Members {
        let locks = self.locks.lock();
        locks
            .seen
            .get(key)
            .map_or(Members::default(), |seen| seen.astray)
    }

    /// The lock is held or free, and these members say otherwise: they have the hold of a contender that has died.
    pub(super) fn are_astray(&self, key: &LockKey, members: Members) {
        if let Some(seen) = self.locks.lock().seen.get_mut(key) {
            seen.astray = members;
        }
    }
}

impl Locks {
    fn put(&mut self, key: &LockKey, end: Instant, now: Instant) {
        if self.seen.len() >= self.crowd {
            self.seen.retain(|_, seen| now - seen.last < MEMORY);
            self.crowd = CROWD.max(2 * self.seen.len());
        }
        let seen = Seen {
            end,
            since: now,
            last: now,
            astray: Members::default(),
        };
        self.seen.insert(key.clone(), seen);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{merge, merge_certain};
    use crate::mode::LockMode;
    use crate::protocol::{HoldInfo, LockInfo};
    use crate::token::FencingToken;

    fn info(holds: &[(&str, u64, u64)]) -> LockInfo {
        let holders = holds.iter().map(|(id, remaining, token)| HoldInfo {
            id: (*id).to_owned(),
            mode: LockMode::Write,
            remaining: Duration::from_secs(*remaining),
            token: Some(FencingToken::from_u64(*token)),
            held_for: Some(Duration::ZERO),
            owner: None,
        });
        LockInfo {
            holders: holders.collect(),
            ..LockInfo::default()
        }
    }

    #[test]
    fn a_hold_is_what_a_majority_has() {
        let infos = || {
            vec![
                info(&[("a", 5, 1)]),
                info(&[("a", 3, 2)]),
                info(&[("b", 9, 9)]),
                info(&[("a", 4, 1)]),
            ]
        };
        let all: Vec<_> = [infos(), vec![info(&[])]].concat();
        let merged = merge(all, 5);
        assert_eq!(merged.holders.len(), 1);
        let hold = &merged.holders[0];
        assert_eq!((&*hold.id, hold.remaining.as_secs()), ("a", 3));
        assert_eq!(hold.token, Some(FencingToken::from_u64(2)));
        // A member that has not answered may have the hold.
        assert_eq!(merge(infos()[..3].to_vec(), 5).holders.len(), 2);
        assert!(merge_certain(infos()[..3].to_vec(), 5).holders.is_empty());
    }
}
