//! Which server is at the other end of a connection.

use std::sync::Arc;

use super::caller::Caller;
use crate::clock::Instant;
use crate::error::{Error, ErrorKind};
use crate::slot::Slot;
use crate::store::redis::node::{DialFailure, Node, NodeId, Trouble, fatal};
use crate::store::redis::wire::{Refusal, identity, refusal, who_are_you};

/// One connection to one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// The server, as its store calls it.
    pub(crate) node: NodeId,
    pub(super) serial: u64,
}

impl Caller {
    /// The connection that requests about a slot take now, if there is one.
    pub(crate) fn link(&self, slot: Slot) -> Option<Link> {
        let topology = self.servers.now();
        let node = topology.node(slot)?;
        Some(Link {
            node: node.id(),
            serial: node.serial()?,
        })
    }

    /// What tells the server of a slot from others, and the connection that says so.
    pub(crate) async fn identify(
        &self,
        slot: Slot,
        deadline: Instant,
    ) -> Result<(Link, Vec<String>), Error> {
        let node = self.servers.now().node(slot).cloned();
        let Some(node) = node else {
            self.env.refresh.request();
            return Err(Trouble::Nobody.into_error());
        };
        let outcome = ask_who_it_is(&node, deadline).await;
        if outcome.is_err() {
            // Another server may serve the slot by now.
            self.env.refresh.request();
        }
        outcome
    }

    /// The same of all masters that can be reached.
    pub(crate) async fn identify_all(
        &self,
        deadline: Instant,
    ) -> Vec<Result<(Link, Vec<String>), Error>> {
        let masters = self.servers.now().masters();
        let asked = masters.iter().map(|node| ask_who_it_is(node, deadline));
        futures_util::future::join_all(asked).await
    }
}

/// What tells a server from others, and the connection that says so.
pub(crate) async fn ask_who_it_is(
    node: &Arc<Node>,
    deadline: Instant,
) -> Result<(Link, Vec<String>), Error> {
    let mut session = match node.connected(deadline).await {
        Ok(session) => session,
        Err(DialFailure::Fatal(error)) => return Err(error),
        Err(DialFailure::Trouble(trouble)) => return Err(trouble.into_error()),
    };
    let sent = Instant::now();
    let until = deadline.min(sent + node.env().options.response_timeout);
    let answers = match session.connection.request_all(&who_are_you(), until).await {
        Ok(answers) => answers,
        Err(why) => return Err(node.unanswered(&session, sent, why).into_error()),
    };
    node.answered();
    if let Some(error) = answers.first().and_then(refusal) {
        match Refusal::of(error, node.address()) {
            Refusal::Fatal(kind @ ErrorKind::Unauthorized) => {
                return Err(fatal(kind, error, node, "*", None));
            }
            // A server that has no such command keeps to itself who it is.
            Refusal::Fatal(_) => {}
            _ => return Err(Trouble::Refused(node.address().clone(), error.clone()).into_error()),
        }
    }
    let link = Link {
        node: node.id(),
        serial: session.serial(),
    };
    Ok((link, identity(&answers)))
}
