//! Questions to servers that are not about one lock: who they are, what they offer, which locks there are.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::caller::Caller;
use crate::clock::Instant;
use crate::error::{Error, ErrorKind};
use crate::key::LockKey;
use crate::kind::LockMode;
use crate::lease::MIN_LEASE;
use crate::protocol::{HoldId, Op, Stray};
use crate::slot::Slot;
use crate::store::redis::node::{DialFailure, Node, NodeId, Trouble, fatal};
use crate::store::redis::wire::{
    Cmd, Offer, PublishMode, Refusal, ScriptLoad, Value, command_statistics, forget_token, found,
    identity, refusal, scan, unless_refused, who_are_you,
};

/// One connection to one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// The server, as its store calls it.
    pub(crate) node: NodeId,
    pub(super) serial: u64,
}

impl Caller {
    /// The connection that requests about a slot take now, if there is one that is not in doubt.
    pub(crate) fn link(&self, slot: Slot) -> Option<Link> {
        let topology = self.servers.now();
        let node = topology.node(slot).filter(|node| !node.is_doubted())?;
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

    /// The identities of all masters that can be reached.
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
            // A server without this command cannot be identified.
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

/// How many names are tried: enough to find one in a hundredth of the slots, and soon done.
const NAMES: usize = 1000;

/// Reads and writes a lock that no other client knows, which needs all rights, and publishes to a channel without subscribers.
pub(crate) async fn probe(caller: &Arc<Caller>, deadline: Instant) -> Result<PublishMode, Error> {
    let topology = caller.servers.topology();
    let prefix = &caller.env.options.prefix;
    let client = caller.env.client.as_str();
    let name = |n| LockKey::new(prefix, &format!("probe:{client}:{n}"));
    let home = |key: &LockKey| topology.node(key.slot());
    // Of a node that is known to answer: another shard that is down does not keep the client from starting.
    let answers = |key: &LockKey| home(key).is_some_and(|node| node.is_connected());
    let key = match (0..NAMES).filter_map(|n| name(n).ok()).find(answers) {
        Some(key) => key,
        None => name(0)?,
    };
    let node = home(&key).cloned();
    // First, as it does not fail: an error can then say what the servers know.
    let mut offer = try_publishing(node.as_ref(), &key, deadline).await;
    caller.call(&key, &Op::Inspect, deadline).await?;
    try_writing(caller, &key, deadline).await?;
    if offer.is_none() {
        offer = try_publishing(node.as_ref(), &key, deadline).await;
    }
    let mode = offer.map_or(PublishMode::Sharded, |offer| offer.mode);
    if let Some(node) = node
        && !lets_scripts_publish(&node, &key, mode, deadline).await
    {
        caller.env.publish.leave_to_client();
    }
    Ok(mode)
}

/// Whether scripts may publish, too. Doubts are for them: where they may not, waiters poll.
async fn lets_scripts_publish(
    node: &Arc<Node>,
    key: &LockKey,
    mode: PublishMode,
    deadline: Instant,
) -> bool {
    let until = deadline.min(Instant::now() + node.env().options.response_timeout);
    match node.connected(until).await {
        Ok(mut session) => node.offers_to_scripts(&mut session, mode, key, until).await,
        Err(_) => true,
    }
}

async fn try_publishing(
    node: Option<&Arc<Node>>,
    key: &LockKey,
    deadline: Instant,
) -> Option<Offer> {
    let node = node?;
    let patience = node.env().options.response_timeout;
    let until = deadline.min(Instant::now() + patience);
    let mut session = node.connected(until).await.ok()?;
    node.offer(&mut session, key.tagged(), until).await
}

/// Takes and releases a lock in all the ways that need a right of their own, so that no caller finds out with a lock half
/// taken. A user without these rights may still inspect locks. Refusals for another reason (no memory, no replicas) are for
/// later callers to handle.
async fn try_writing(caller: &Arc<Caller>, key: &LockKey, deadline: Instant) -> Result<(), Error> {
    let deadline = deadline.min(Instant::now() + caller.env.options.response_timeout);
    let counter = AtomicU64::new(0);
    let holds = [(); 2].map(|()| HoldId::next(&caller.env.client, &counter));
    let acquires = holds.iter().map(|hold| Op::Acquire {
        hold: hold.clone(),
        mode: LockMode::Read,
        lease: MIN_LEASE,
        owner: None,
        place: None,
    });
    let abandons = holds.iter().map(|hold| Op::Abandon {
        hold: hold.clone(),
        stray: Stray::None,
    });
    for (step, op) in acquires.chain(abandons).enumerate() {
        match caller.call(key, &op, deadline).await {
            Err(error) if step > 0 && error.is_unauthorized() => return Err(error),
            Err(_) => break,
            Ok(_) => {}
        }
    }
    // Its last token can be forgotten.
    if let Some(node) = caller.servers.now().node(key.slot())
        && let Ok(mut session) = node.connected(deadline).await
    {
        let forget = forget_token(key);
        let _ = session.connection.request(&forget, deadline).await;
    }
    Ok(())
}

impl Caller {
    /// The keys of all hashes that start with `stem`.
    pub(crate) async fn keys(&self, stem: &str, deadline: Instant) -> Result<Vec<String>, Error> {
        let mut keys = Vec::new();
        for node in self.masters() {
            let mut next = Some("0".to_owned());
            while let Some(cursor) = next.take() {
                let answer = self.ask(&node, &scan(stem, &cursor), deadline).await?;
                if let Some((following, found)) = found(&answer) {
                    next = following;
                    keys.extend(found);
                }
            }
        }
        // A scan may name a key twice, and so may a slot on the move.
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// What all masters together have done so far.
    pub(crate) async fn script_load(&self, deadline: Instant) -> Result<ScriptLoad, Error> {
        let mut load = ScriptLoad::default();
        for node in self.masters() {
            load.add(&self.ask(&node, &command_statistics(), deadline).await?);
        }
        Ok(load)
    }

    fn masters(&self) -> Vec<Arc<Node>> {
        self.servers.now().masters()
    }

    async fn ask(&self, node: &Arc<Node>, cmd: &Cmd, deadline: Instant) -> Result<Value, Error> {
        let mut session = match node.connected_at_last(deadline).await {
            Ok(session) => session,
            Err(DialFailure::Fatal(error)) => return Err(error),
            Err(DialFailure::Trouble(trouble)) => return Err(trouble.into_error()),
        };
        let sent = Instant::now();
        let until = deadline.min(sent + self.env.options.response_timeout);
        match session.connection.request(cmd, until).await {
            Ok(value) => {
                unless_refused(value).map_err(|error| match Refusal::of(&error, node.address()) {
                    Refusal::Fatal(kind) => fatal(kind, &error, node, "*", None),
                    _ => Trouble::Refused(node.address().clone(), error).into_error(),
                })
            }
            Err(why) => Err(node.unanswered(&session, sent, why).into_error()),
        }
    }
}
