//! Sets of members.

/// Some members, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Members(u32);

/// How many members a quorum may have.
pub(super) const MOST: usize = 31;

impl Members {
    /// The first so many.
    pub(super) fn first(count: usize) -> Self {
        Self((1 << count) - 1)
    }

    /// This one.
    pub(super) fn only(member: usize) -> Self {
        Self(1 << member)
    }

    /// Those of a number that `bits` has given.
    pub(super) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(super) fn bits(self) -> u32 {
        self.0
    }

    pub(super) fn has(self, member: usize) -> bool {
        self.0 & (1 << member) != 0
    }

    pub(super) fn put(&mut self, member: usize) {
        self.0 |= 1 << member;
    }

    pub(super) fn take(&mut self, member: usize) {
        self.0 &= !(1 << member);
    }

    pub(super) fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub(super) fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Members that are in both sets.
    pub(super) fn common(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    pub(super) fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..MOST).filter(move |member| self.has(*member))
    }
}

/// How many members decide.
pub(super) fn majority(members: usize) -> usize {
    members / 2 + 1
}

#[cfg(test)]
mod tests {
    use super::{Members, majority};

    #[test]
    fn two_majorities_have_a_member_in_common() {
        for members in 1..=31 {
            assert!(2 * majority(members) > members);
            assert!(2 * (majority(members) - 1) <= members);
        }
    }

    #[test]
    fn members_come_and_go() {
        let mut some = Members::first(5);
        some.take(2);
        some.put(7);
        assert_eq!(some.iter().collect::<Vec<_>>(), [0, 1, 3, 4, 7]);
        assert_eq!(some.without(Members::first(4)).count(), 2);
        assert!(!some.has(2));
    }
}
