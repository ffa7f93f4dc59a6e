//! What several servers say of one lock.

use std::collections::BTreeMap;

use super::members::majority;
use crate::protocol::{HoldInfo, LockInfo};

/// The state of a lock by what some of so many members know. A hold is shown if a majority may have it: those who have not
/// answered may. What fewer have recorded is an attempt, or what is left of one.
pub(super) fn merge(infos: Vec<LockInfo>, members: usize) -> LockInfo {
    let unheard = members - infos.len();
    merge_at_least(
        infos,
        members,
        majority(members).saturating_sub(unheard).max(1),
    )
}

/// The same, for holds that a majority certainly has.
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{merge, merge_certain};
    use crate::mode::Mode;
    use crate::protocol::{HoldInfo, LockInfo};
    use crate::token::FencingToken;

    fn info(holds: &[(&str, u64, u64)]) -> LockInfo {
        let holders = holds.iter().map(|(id, remaining, token)| HoldInfo {
            id: (*id).to_owned(),
            mode: Mode::Write,
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
        // Who has not answered may have it as well.
        assert_eq!(merge(infos()[..3].to_vec(), 5).holders.len(), 2);
        assert!(merge_certain(infos()[..3].to_vec(), 5).holders.is_empty());
    }
}
