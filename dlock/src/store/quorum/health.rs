//! Which servers are whose, and whether they answer: no two members may be the same server, or parts of the same cluster. A task
//! asks those that do not answer, and no attempt waits for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::member::{Member, Server};
use crate::clock::{Instant, sleep};
use crate::error::{Error, ErrorKind};
use crate::random::{self, HashMap, HashSet};
use crate::slot::Slot;
use crate::store::{Link, RedisNodeId, RedisStore};
use crate::tasks::Place;

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

/// By how much one answer changes what is expected of the next.
const WEIGHT: u64 = 8;

/// The state of a member's connections. A connection is fit if the server at its end has proved to be no other
/// member's, and has not been silent since it answered last.
#[derive(Debug, Default)]
pub(super) struct Health {
    links: Mutex<Links>,
    /// How long it takes to answer, as a rule, in µs; 0 before the first answer.
    pace: AtomicU64,
}

#[derive(Debug, Default)]
struct Links {
    /// For each server, the connection over which it was identified, and whether it answers.
    proven: HashMap<RedisNodeId, (Link, bool)>,
    /// The servers that a task asks now.
    probed: HashSet<RedisNodeId>,
}

impl Health {
    pub(super) fn is_fit(&self, link: Link) -> bool {
        self.links.lock().proven.get(&link.node) == Some(&(link, true))
    }

    /// Whether the server at the end of this connection has been identified.
    pub(super) fn is_proven(&self, link: Link) -> bool {
        let links = self.links.lock();
        let proven = links.proven.get(&link.node);
        proven.is_some_and(|(proven, _)| *proven == link)
    }

    /// The server has been identified.
    pub(super) fn prove(&self, link: Link) {
        self.links.lock().proven.insert(link.node, (link, true));
    }

    /// A request over this was not answered.
    pub(super) fn fell_silent(&self, link: Link) {
        if let Some((proven, answers)) = self.links.lock().proven.get_mut(&link.node)
            && *proven == link
        {
            *answers = false;
        }
    }

    /// A task is about to ask this server; whether none does so already.
    pub(super) fn begin_probing(&self, node: RedisNodeId) -> bool {
        self.links.lock().probed.insert(node)
    }

    pub(super) fn end_probing(&self, node: RedisNodeId) {
        self.links.lock().probed.remove(&node);
    }

    /// An answer took so long.
    pub(super) fn took(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros())
            .unwrap_or(u64::MAX / WEIGHT)
            .max(1);
        let pace = match self.pace.load(Ordering::Relaxed) {
            0 => micros,
            pace => (pace * (WEIGHT - 1) + micros) / WEIGHT,
        };
        self.pace.store(pace.max(1), Ordering::Relaxed);
    }

    /// How long an answer takes as a rule.
    pub(super) fn pace(&self) -> Duration {
        Duration::from_micros(self.pace.load(Ordering::Relaxed))
    }
}

/// How long a server may take to be identified.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two questions, in milliseconds; connecting has pauses of its own.
const PAUSE: std::ops::Range<u64> = 50..150;

impl Member {
    /// Whether what is sent about a slot would go to a server that answers, and that is known to be no other member's. If
    /// not, a task finds out when it is.
    pub(super) fn is_fit(self: &Arc<Self>, slot: Slot) -> bool {
        let store = match self.server() {
            None => return false,
            Some(Server::Memory(_)) => return true,
            Some(Server::Redis(store)) => store,
        };
        if store
            .link(slot)
            .is_some_and(|link| self.health.is_fit(link))
        {
            return true;
        }
        self.probe(store.node_of(slot), slot);
        false
    }

    /// Has the server of a slot asked until it answers.
    pub(super) fn probe(self: &Arc<Self>, node: RedisNodeId, slot: Slot) {
        if !self.is_closed() && self.health.begin_probing(node) {
            Place::own().spawn(probe(Arc::downgrade(self), node, slot));
        }
    }

    /// Identifies all reachable servers of a new member.
    pub(super) async fn admit(&self, store: &RedisStore, deadline: Instant) -> Result<(), Error> {
        let until = deadline.min(Instant::now() + PATIENCE);
        let mut failed = None;
        let mut is_known = false;
        for answer in store.identify_all(until).await {
            match answer {
                Ok((link, marks)) => {
                    self.roster.admit(self.number, link.node, marks)?;
                    self.health.prove(link);
                    is_known = true;
                }
                Err(error) if error.is_unauthorized() => return Err(error),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if !is_known => Err(error),
            _ => Ok(()),
        }
    }

    async fn ask_who_it_is(&self, store: &RedisStore, slot: Slot) -> Result<(), Error> {
        self.roster.forget(self.number, store.node_of(slot));
        let (link, marks) = store.identify(slot, Instant::now() + PATIENCE).await?;
        self.roster.admit(self.number, link.node, marks)?;
        self.health.prove(link);
        Ok(())
    }
}

async fn probe(member: Weak<Member>, node: RedisNodeId, slot: Slot) {
    loop {
        let Some(member) = member.upgrade().filter(|member| !member.is_closed()) else {
            return;
        };
        let Some(Server::Redis(store)) = member.server() else {
            return;
        };
        match member.ask_who_it_is(store, slot).await {
            Ok(()) => {
                member.recovered();
                // In this order: what looks because it was notified can start the next task.
                member.health.end_probing(node);
                member.roster.changed.notify_waiters();
                return;
            }
            Err(error) => member.in_trouble(error),
        }
        drop(member);
        sleep(Duration::from_millis(random::u64(PAUSE))).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Health, Roster};
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
        // Servers without a run id cannot be distinguished.
        assert!(roster.admit(2, node, Vec::new()).is_ok());
        // The server of member 1 was restarted, and its address leads elsewhere.
        roster.forget(1, node);
        assert!(roster.admit(2, node, marks("b")).is_ok());
    }

    #[test]
    fn the_pace_follows_the_answers() {
        let health = Health::default();
        assert_eq!(health.pace(), Duration::ZERO);
        health.took(Duration::from_millis(8));
        assert_eq!(health.pace(), Duration::from_millis(8));
        health.took(Duration::from_millis(16));
        assert_eq!(health.pace(), Duration::from_millis(9));
        for _ in 0..100 {
            health.took(Duration::from_millis(1));
        }
        assert!(health.pace() < Duration::from_millis(2));
    }
}
