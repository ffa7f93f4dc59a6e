//! Sets of members, and which servers are whose: no two members may be the same server, or parts of the same cluster.

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::error::{Error, ErrorKind};
use crate::random::HashMap;
use crate::store::RedisNodeId;

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

    /// The members of a number that `bits` has given.
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

/// What the servers of each member have said of themselves.
#[derive(Debug)]
pub(super) struct Roster {
    members: Mutex<Vec<HashMap<RedisNodeId, Vec<String>>>>,
    /// A member has become fit, or was closed.
    pub(super) changed: Notify,
}

impl Roster {
    pub(super) fn of(members: usize) -> Self {
        let roster = Self {
            members: Mutex::default(),
            changed: Notify::new(),
        };
        *roster.members.lock() = vec![HashMap::default(); members];
        roster
    }

    /// A server of a member is identified again: its last connection has ended, or is silent.
    pub(super) fn forget(&self, member: usize, node: RedisNodeId) {
        self.members.lock()[member].remove(&node);
    }

    /// A server of a member has been identified: an error if it belongs to another member, too.
    pub(super) fn admit(
        &self,
        member: usize,
        node: RedisNodeId,
        marks: Vec<String>,
    ) -> Result<(), Error> {
        let mut members = self.members.lock();
        check(&members, member, &marks)?;
        members[member].insert(node, marks);
        Ok(())
    }

    /// An error if a server is another member's.
    pub(super) fn check(&self, member: usize, marks: &[String]) -> Result<(), Error> {
        check(&self.members.lock(), member, marks)
    }
}

fn check(
    members: &[HashMap<RedisNodeId, Vec<String>>],
    member: usize,
    marks: &[String],
) -> Result<(), Error> {
    let mut others = members.iter().enumerate();
    let is_shared = |theirs: &HashMap<_, Vec<String>>| {
        let mut theirs = theirs.values().flatten();
        theirs.any(|mark| marks.contains(mark))
    };
    match others.find(|(other, theirs)| *other != member && is_shared(theirs)) {
        Some((other, _)) => Err(same_server(member.min(other), member.max(other))),
        None => Ok(()),
    }
}

fn same_server(one: usize, other: usize) -> Error {
    Error::new(
        ErrorKind::InvalidConfig,
        format!(
            "URLs {} and {} of the quorum lead to the same server, to the same cluster, or to a master and its replica; each \
             URL has to lead to servers that no other URL leads to. With a single server or cluster use `url` instead of \
             `quorum`",
            one + 1,
            other + 1
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::{Members, Roster, majority};
    use crate::store::RedisNodeId;

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

    #[test]
    fn a_server_belongs_to_one_member() {
        let (roster, node) = (Roster::of(3), RedisNodeId::NOBODY);
        let marks = |mark: &str| vec![mark.to_owned(), format!("{mark}'")];
        assert!(roster.admit(0, node, marks("a")).is_ok());
        assert!(roster.admit(1, node, marks("b")).is_ok());
        assert!(roster.admit(0, node, marks("a")).is_ok());
        let error = roster
            .admit(2, node, vec!["b'".to_owned()])
            .expect_err("taken");
        assert!(
            error.is_invalid() && error.to_string().contains("URLs 2 and 3"),
            "{error}"
        );
        // Servers without a run id cannot be distinguished.
        assert!(roster.admit(2, node, Vec::new()).is_ok());
        // The server of member 1 was restarted, and its address leads elsewhere.
        roster.forget(1, node);
        assert!(roster.admit(2, node, marks("b")).is_ok());
    }
}
