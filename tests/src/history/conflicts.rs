//! Grants that contradict each other, by what callers believed and by their tokens. This knows nothing of the lock.

use std::{collections::BTreeMap, fmt};

use super::{Call, Seconds};

/// Why two grants contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// Both callers believed in the lock at the same time, and one of them wrote.
    Overlap,
    /// The second token is not larger, although the callers exclude each other and the first token was known before.
    Order,
    /// Both have the same token.
    Twice,
}

/// Two calls for one lock, of which one must not have been granted as it was.
#[derive(Debug, Clone, Copy)]
pub struct Conflict<'c> {
    /// Their contradiction.
    pub wrong: Wrong,
    /// The earlier grant.
    pub first: &'c Call,
    /// The later grant.
    pub second: &'c Call,
}

impl fmt::Display for Conflict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = (self.first, self.second);
        match (self.wrong, first.believed(), second.believed()) {
            (Wrong::Overlap, Some((_, one)), Some((since, other))) => {
                let (since, both) = (Seconds(since), Seconds(one.min(other)));
                write!(f, "from {since} to {both} both held it: {first}; {second}")
            }
            (Wrong::Twice, ..) => write!(f, "the same token twice: {first}; {second}"),
            _ => write!(f, "{second}; after {first}"),
        }
    }
}

/// A lock that a caller believed to hold.
#[derive(Debug, Clone, Copy)]
struct Grant<'c> {
    call: &'c Call,
    since: u64,
    last: u64,
    token: Option<u64>,
}

/// Finds, for each lock, writers that met another caller, tokens that were given twice, and tokens in the wrong order: a
/// writer's has to be larger than those of the callers before it, and smaller than those of the callers after it.
///
/// `token` is what a call's token says about the order, if it says anything. Readers are not compared with each other:
/// those of one process may share a hold and its token. An owner's calls are not compared with each other either.
pub fn conflicts(calls: &[Call], token: impl Fn(&Call) -> Option<u64>) -> Vec<Conflict<'_>> {
    let mut locks: BTreeMap<usize, Vec<Grant<'_>>> = BTreeMap::new();
    for call in calls {
        if let Some((since, last)) = call.believed() {
            locks.entry(call.lock).or_default().push(Grant {
                call,
                since,
                last,
                token: token(call),
            });
        }
    }
    let mut found = Vec::new();
    for mut grants in locks.into_values() {
        grants.sort_by_key(|grant| (grant.since, grant.token));
        found.extend(overlaps(&grants));
        grants.retain(|grant| grant.token.is_some());
        found.extend(reversed(&grants));
        grants.sort_by_key(|grant| grant.token);
        found.extend(grants.windows(2).filter_map(|pair| twice(pair[0], pair[1])));
    }
    found
}

impl<'c> Grant<'c> {
    fn conflict(self, wrong: Wrong, second: Self) -> Conflict<'c> {
        Conflict {
            wrong,
            first: self.call,
            second: second.call,
        }
    }

    fn excludes(self, other: Self) -> bool {
        (self.call.write || other.call.write) && !self.call.shares_owner(other.call)
    }
}

/// Callers that believed in a lock at the same time and must not.
fn overlaps<'c>(grants: &[Grant<'c>]) -> Vec<Conflict<'c>> {
    let mut open: Vec<Grant<'_>> = Vec::new();
    let mut found = Vec::new();
    for second in grants {
        open.retain(|first| first.last > second.since);
        let met = open.iter().filter(|first| first.excludes(*second));
        found.extend(met.map(|first| first.conflict(Wrong::Overlap, *second)));
        open.push(*second);
    }
    found
}

/// Grants with a token that is not larger than one that was known when they were granted, and that excludes them.
fn reversed<'c>(grants: &[Grant<'c>]) -> Vec<Conflict<'c>> {
    // For each owner, and for all without one: the largest tokens so far, of all its grants and of its writers.
    let mut known: BTreeMap<Option<usize>, [Vec<Grant<'_>>; 2]> = BTreeMap::new();
    let mut found = Vec::new();
    for late in grants {
        let (call, since) = (late.call, late.since);
        // A call for several locks has each of them since a moment that nothing tells, and returns with the last.
        let before = if call.several { call.asked } else { since };
        let others = known
            .iter()
            .filter(|(owner, _)| owner.is_none() || **owner != call.owner);
        let largest = others.filter_map(|(_, known)| {
            let known = &known[usize::from(!call.write)];
            let at = known.partition_point(|early| early.since < before);
            known[..at].last()
        });
        let largest = largest.max_by_key(|early| early.token);
        if let Some(early) = largest.filter(|early| early.token >= late.token) {
            found.push(early.conflict(Wrong::Order, *late));
        }
        let [all, writers] = known.entry(call.owner).or_default();
        let larger = |known: &Vec<Grant<'_>>| known.last().is_none_or(|of| late.token > of.token);
        if larger(all) {
            all.push(*late);
        }
        if call.write && larger(writers) {
            writers.push(*late);
        }
    }
    found
}

fn twice<'c>(first: Grant<'c>, second: Grant<'c>) -> Option<Conflict<'c>> {
    let (one, other) = (first.call, second.call);
    // Readers of one process may share a hold.
    let share = one.of == other.of && !one.write && !other.write || one.shares_owner(other);
    (first.token == second.token && !share).then(|| first.conflict(Wrong::Twice, second))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Story, Who},
        Wrong::{Order, Overlap, Twice},
        *,
    };

    /// A call of a process that asked at `asked`, and believed in the lock in between.
    fn call(process: usize, mode: &str, [asked, since, last]: [u64; 3], token: u64) -> Call {
        let text = format!(
            "A {asked} {token} 0 {mode} forever\nG {since} {token} {token} 1\nE {last} {token} {last}\n"
        );
        let mut story = Story::default();
        let written = story.add(&text, Who { process, life: 0 });
        written.expect("a whole call");
        story.calls.remove(0)
    }

    fn read(process: usize, since: u64, last: u64, token: u64) -> Call {
        call(process, "r -", [0, since, last], token)
    }

    fn write(process: usize, since: u64, last: u64, token: u64) -> Call {
        call(process, "w -", [0, since, last], token)
    }

    fn found(calls: &[Call]) -> Vec<(Wrong, u64, u64)> {
        let found = conflicts(calls, |call| call.got()?.token);
        let ids = |found: Conflict<'_>| (found.wrong, found.first.id, found.second.id);
        found.into_iter().map(ids).collect()
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let [first, second] = [read(1, 1, 5, 1), read(2, 2, 6, 2)];
        assert_eq!(found(&[first.clone(), second.clone()]), []);
        let writer = write(3, 4, 7, 3);
        let both = [(Overlap, 1, 3), (Overlap, 2, 3)];
        assert_eq!(found(&[writer, second, first]), both);
        let in_writer = [write(1, 1, 4, 1), read(2, 2, 3, 2)];
        assert_eq!(found(&in_writer), [(Overlap, 1, 2)]);
        // The long reader counts, though a short one came after it.
        let in_long_reader = [read(1, 1, 6, 1), read(2, 2, 3, 2), write(3, 4, 5, 3)];
        assert_eq!(found(&in_long_reader), [(Overlap, 1, 3)]);
        let mut other_lock = [write(1, 1, 4, 1), write(2, 2, 3, 2)];
        other_lock[0].lock = 1;
        assert_eq!(found(&other_lock), []);
    }

    #[test]
    fn the_end_of_one_may_be_the_beginning_of_the_next() {
        assert_eq!(found(&[write(1, 1, 5, 1), write(2, 5, 9, 2)]), []);
        let later = [write(1, 1, 6, 1), write(2, 5, 9, 2)];
        assert_eq!(found(&later), [(Overlap, 1, 2)]);
    }

    #[test]
    fn an_owner_meets_itself() {
        let own = |since, last, token| call(0, "w 1", [0, since, last], token);
        assert_eq!(found(&[own(1, 9, 2), own(2, 5, 1)]), []);
        let other = call(0, "w 2", [0, 2, 5], 3);
        assert_eq!(found(&[own(1, 9, 2), other]), [(Overlap, 2, 3)]);
    }

    #[test]
    fn a_writer_needs_a_larger_token_than_all_before() {
        for early in [read(1, 1, 2, 7), write(1, 1, 2, 7)] {
            assert_eq!(found(&[early.clone(), write(2, 3, 4, 8)]), []);
            assert_eq!(found(&[early, write(2, 3, 4, 6)]), [(Order, 7, 6)]);
        }
    }

    #[test]
    fn a_reader_needs_a_larger_token_than_all_writers_before() {
        let after = |early: Call| found(&[early, read(2, 3, 4, 6)]);
        assert_eq!(after(write(1, 1, 2, 7)), [(Order, 7, 6)]);
        assert_eq!(after(read(1, 1, 2, 7)), []);
    }

    #[test]
    fn one_of_several_may_have_been_granted_before() {
        let several = |asked| {
            let mut several = call(2, "w -", [asked, 4, 5], 6);
            several.several = true;
            found(&[write(1, 2, 3, 7), several])
        };
        assert_eq!(several(1), []);
        assert_eq!(several(3), [(Order, 7, 6)]);
    }

    #[test]
    fn a_token_is_given_once() {
        let writers = [write(1, 1, 2, 5), write(2, 3, 4, 5)];
        assert_eq!(found(&writers), [(Order, 5, 5), (Twice, 5, 5)]);
        assert_eq!(
            found(&[read(1, 1, 2, 5), read(2, 1, 2, 5)]),
            [(Twice, 5, 5)]
        );
        assert_eq!(found(&[read(1, 1, 2, 5), read(1, 1, 2, 5)]), []);
    }

    /// A hold ends with the last moment at which its caller believed in it: when its process was stopped or killed, or when
    /// the caller learnt of the loss.
    #[test]
    fn lost_and_killed_holds_end() {
        let second = || write(2, 3, 4, 2);
        let mut lost = write(1, 1, 2, 1);
        if let super::super::Outcome::Got(got) = &mut lost.outcome {
            got.ended = Some(9);
        }
        assert_eq!(found(&[lost.clone(), second()]), []);
        if let super::super::Outcome::Got(got) = &mut lost.outcome {
            got.ended = None;
        }
        assert_eq!(found(&[lost, second()]), []);
        assert_eq!(found(&[write(1, 1, 9, 1), second()]), [(Overlap, 1, 2)]);
    }
}
