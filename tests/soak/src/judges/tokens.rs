//! A writer's token is larger than all that others had believed in before it was granted.

use std::collections::BTreeMap;

use super::{Round, Verdict, excuses::Excuses};
use crate::history::Call;

/// The largest tokens of an owner, or of all without one, by the moment from which on they were known.
type Known<'c> = Vec<(u64, u64, &'c Call)>;

pub(super) fn judge(round: Round<'_>, excuses: &Excuses, verdict: &mut Verdict) {
    for lock in 0..round.locks {
        for (late, early) in reversed(&round.story.calls, lock, |call| round.token(call)) {
            // A grant that a loss has taken is no grant.
            let at = late.got().map_or(0, |got| got.since);
            if excuses.excuse(&[late], at).is_none() {
                verdict.object("tokens", format!("{late}; after {early}"));
            }
        }
    }
}

/// Writers whose tokens are not larger than one that was known when they were granted theirs.
fn reversed(
    calls: &[Call],
    lock: usize,
    token: impl Fn(&Call) -> Option<u64>,
) -> Vec<(&Call, &Call)> {
    let mut grants: Vec<(u64, u64, &Call)> = calls
        .iter()
        .filter(|call| call.lock == lock)
        .filter_map(|call| Some((call.got()?, token(call)?, call)))
        .filter(|(got, _, _)| got.last.is_some())
        .map(|(got, token, call)| (got.since, token, call))
        .collect();
    grants.sort_by_key(|(since, _, _)| *since);
    let mut known: BTreeMap<Option<usize>, Known<'_>> = BTreeMap::new();
    let mut found = Vec::new();
    for (since, token, call) in grants {
        // One of several was granted long before the last of them.
        let before = if call.several { call.asked } else { since };
        if call.write {
            let others = known
                .iter()
                .filter(|(owner, _)| owner.is_none() || **owner != call.owner);
            let largest = others.filter_map(|(_, known)| {
                let at = known.partition_point(|(since, _, _)| *since < before);
                known[..at].last()
            });
            let largest = largest.max_by_key(|(_, token, _)| *token);
            if let Some((_, _, early)) = largest.filter(|(_, largest, _)| *largest >= token) {
                found.push((call, *early));
            }
        }
        let own = known.entry(call.owner).or_default();
        if own.last().is_none_or(|(_, largest, _)| token > *largest) {
            own.push((since, token, call));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{history::Call, judges::belief::tests::call};

    fn reversed(calls: &[Call]) -> Vec<(&Call, &Call)> {
        super::reversed(calls, 0, |call| call.got()?.token)
    }

    #[test]
    fn a_writer_needs_a_larger_token_than_all_before() {
        let early = call(false, 0, 1, 2, 7);
        assert!(reversed(&[early.clone(), call(true, 0, 3, 4, 8)]).is_empty());
        for token in [6, 7] {
            assert_eq!(
                reversed(&[early.clone(), call(true, 0, 3, 4, token)]).len(),
                1
            );
        }
    }

    #[test]
    fn a_reader_and_one_of_several_may_have_been_granted_theirs_before() {
        let early = call(true, 0, 2, 3, 7);
        assert!(reversed(&[early.clone(), call(false, 0, 3, 4, 6)]).is_empty());
        let mut several = call(true, 1, 4, 5, 6);
        several.several = true;
        assert!(reversed(&[early.clone(), several.clone()]).is_empty());
        several.asked = 3;
        assert_eq!(reversed(&[early, several]).len(), 1);
    }
}
