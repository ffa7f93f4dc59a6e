//! Which servers are whose: no two members may be the same server, or parts of the same cluster.

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::error::{Error, ErrorKind};
use crate::random::HashMap;
use crate::store::RedisNodeId;

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

    /// A server of a member is asked again who it is: the connection to the one before has ended, or says nothing.
    pub(super) fn forget(&self, member: usize, node: RedisNodeId) {
        self.members.lock()[member].remove(&node);
    }

    /// A server of a member has said who it is: an error if it is another member's, too.
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
    use super::Roster;
    use crate::store::RedisNodeId;

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
        // Servers that say nothing of themselves cannot be told apart.
        assert!(roster.admit(2, node, Vec::new()).is_ok());
        // The server of member 1 was restarted, and its address leads elsewhere.
        roster.forget(1, node);
        assert!(roster.admit(2, node, marks("b")).is_ok());
    }
}
