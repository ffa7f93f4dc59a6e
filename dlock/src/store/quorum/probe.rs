//! Asking members that do not answer, and whose connections were made anew: a task does that, and no attempt waits for it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::member::Member;
use super::server::Server;
use crate::clock::{Instant, sleep};
use crate::error::Error;
use crate::random;
use crate::slot::Slot;
use crate::store::{RedisNodeId, RedisStore};
use crate::tasks::Place;

/// How long a server may take to say who it is.
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

    /// All servers of a member that is new, and can be reached, say who they are.
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
