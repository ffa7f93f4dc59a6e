//! The nodes and their ranges of slots.

use std::collections::BTreeSet;

use crate::server::fleet::NodeId;

/// One past the last slot.
const END: u16 = 16384;

/// All slots with their masters: where each range starts, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Ranges(Vec<(u16, NodeId)>);

impl Ranges {
    /// Spreads all slots evenly.
    pub(in super::super) fn even(masters: usize) -> Self {
        let first =
            |master: usize| u16::try_from(usize::from(END) * master / masters).unwrap_or(END);
        Self(
            (0..masters)
                .map(|master| (first(master), NodeId(master)))
                .collect(),
        )
    }

    pub(in super::super) fn owner(&self, slot: u16) -> NodeId {
        let after = self.0.partition_point(|(first, _)| *first <= slot);
        self.0[after - 1].1
    }

    /// First and last slot of each range, with its owner.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = (u16, u16, NodeId)> {
        let ends = self.0.iter().skip(1).map(|(first, _)| *first).chain([END]);
        self.0
            .iter()
            .zip(ends)
            .map(|((first, owner), end)| (*first, end - 1, *owner))
    }

    pub(in super::super) fn set(&mut self, first: u16, last: u16, owner: NodeId) {
        let mut pieces: Vec<(u16, NodeId)> = Vec::with_capacity(self.0.len() + 2);
        let mut add = |first, owner| {
            if pieces.last().is_none_or(|(_, last)| *last != owner) {
                pieces.push((first, owner));
            }
        };
        for range in self.iter().filter(|range| range.0 < first) {
            add(range.0, range.2);
        }
        add(first, owner);
        for range in self.iter().filter(|range| range.1 > last) {
            add(range.0.max(last + 1), range.2);
        }
        self.0 = pieces;
    }

    pub(in super::super) fn of(&self, node: NodeId) -> Vec<(u16, u16)> {
        let mine = self.iter().filter(|range| range.2 == node);
        mine.map(|(first, last, _)| (first, last)).collect()
    }

    pub(in super::super) fn has(&self, node: NodeId) -> bool {
        self.0.iter().any(|(_, owner)| *owner == node)
    }
}

/// The rest of a range without these slots.
pub(in super::super) fn pieces(
    mut first: u16,
    last: u16,
    without: &BTreeSet<u16>,
) -> Vec<(u16, u16)> {
    let mut pieces = Vec::new();
    for slot in without.range(first..=last) {
        if first < *slot {
            pieces.push((first, slot - 1));
        }
        first = slot + 1;
    }
    if first <= last {
        pieces.push((first, last));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{NodeId, Ranges, pieces};

    #[test]
    fn a_range_without_slots_is_what_lies_between_them() {
        assert_eq!(pieces(3, 9, &[3, 5, 6, 20].into()), [(4, 4), (7, 9)]);
        assert_eq!(pieces(3, 4, &[3, 4].into()), []);
    }

    #[test]
    fn ranges_split_and_join() {
        let mut ranges = Ranges::even(2);
        ranges.set(5, 6, NodeId(1));
        let list: Vec<_> = ranges
            .iter()
            .map(|(first, last, owner)| (first, last, owner.0))
            .collect();
        assert_eq!(list, [(0, 4, 0), (5, 6, 1), (7, 8191, 0), (8192, 16383, 1)]);
        assert_eq!([4, 5, 6, 7].map(|slot| ranges.owner(slot).0), [0, 1, 1, 0]);
        ranges.set(5, 6, NodeId(0));
        assert_eq!(ranges, Ranges::even(2));
        ranges.set(0, 8191, NodeId(1));
        assert_eq!(ranges.of(NodeId(1)), [(0, 16383)]);
        assert!(!ranges.has(NodeId(0)));
    }
}
