//! What holders believe: from the grant to the last moment at which `check()` says yes. Beliefs that conflict must not overlap.

use super::{Round, Verdict, excuses::Excuses};
use crate::history::{Call, Seconds};

/// A lock that a task believed to hold.
#[derive(Debug, Clone, Copy)]
struct Belief<'c> {
    call: &'c Call,
    since: u64,
    last: u64,
}

pub(super) fn judge(round: Round<'_>, excuses: &Excuses, verdict: &mut Verdict) {
    for lock in 0..round.locks {
        for [first, second] in overlaps(&round.story.calls, lock) {
            match excuses.excuse(&[first.call, second.call], second.since) {
                Some(why) => *verdict.attributed.entry(why).or_default() += 1,
                None => verdict.object("exclusion", tell(first, second)),
            }
        }
    }
}

fn tell(first: Belief<'_>, second: Belief<'_>) -> String {
    let both = Seconds(first.last.min(second.last));
    let since = Seconds(second.since);
    format!(
        "from {since} to {both} both held it: {}; {}",
        first.call, second.call
    )
}

/// Pairs that believed in a lock at the same time and must not.
fn overlaps<'c>(calls: &'c [Call], lock: usize) -> Vec<[Belief<'c>; 2]> {
    let believed = |call: &'c Call| {
        let got = call.got().filter(|_| call.lock == lock)?;
        let (since, last) = (got.since, got.last?);
        Some(Belief { call, since, last })
    };
    let mut beliefs: Vec<Belief> = calls.iter().filter_map(believed).collect();
    beliefs.sort_by_key(|belief| belief.since);
    let mut open: Vec<Belief> = Vec::new();
    let mut found = Vec::new();
    for second in beliefs {
        open.retain(|first| first.last > second.since);
        let met = open
            .iter()
            .filter(|first| first.call.conflicts(second.call));
        found.extend(met.map(|first| [*first, second]));
        open.push(second);
    }
    found
}

#[cfg(test)]
pub(super) mod tests {
    use super::overlaps;
    use crate::history::{Call, Got, Outcome, Who};
    use dlock_load::Patience;

    /// A call that asked at `asked`, and believed in the lock in between.
    pub(crate) fn call(write: bool, asked: u64, since: u64, last: u64, token: u64) -> Call {
        Call {
            of: Who {
                process: 0,
                life: 0,
            },
            id: token,
            lock: 0,
            write,
            owner: None,
            patience: Patience::Forever,
            several: false,
            asked,
            outcome: Outcome::Got(Got {
                since,
                token: Some(token),
                last: Some(last),
                ended: Some(last),
                released: None,
            }),
        }
    }

    fn met(calls: &[Call]) -> Vec<[u64; 2]> {
        let ids = overlaps(calls, 0).into_iter();
        ids.map(|pair| pair.map(|belief| belief.call.id)).collect()
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let [first, second] = [call(false, 0, 1, 5, 1), call(false, 0, 2, 6, 2)];
        assert_eq!(met(&[first.clone(), second.clone()]), [[0_u64; 2]; 0]);
        let writer = call(true, 0, 4, 7, 3);
        assert_eq!(met(&[writer, second, first]), [[1, 3], [2, 3]]);
    }

    #[test]
    fn the_end_of_one_may_be_the_beginning_of_the_next() {
        assert_eq!(
            met(&[call(true, 0, 1, 5, 1), call(true, 0, 5, 9, 2)]),
            [[0_u64; 2]; 0]
        );
        assert_eq!(
            met(&[call(true, 0, 1, 6, 1), call(true, 0, 5, 9, 2)]),
            [[1, 2]]
        );
    }

    #[test]
    fn an_owner_meets_itself() {
        let mut calls = [call(true, 0, 1, 9, 1), call(true, 0, 2, 5, 2)];
        calls[0].owner = Some(1);
        calls[1].owner = Some(1);
        assert_eq!(met(&calls), [[0_u64; 2]; 0]);
        calls[1].owner = Some(2);
        assert_eq!(met(&calls), [[1, 2]]);
    }
}
