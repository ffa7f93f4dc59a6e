//! Trying out what the servers offer and the user may do.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::caller::Caller;
use crate::clock::Instant;
use crate::error::Error;
use crate::key::LockKey;
use crate::lease::MIN_LEASE;
use crate::mode::Mode;
use crate::protocol::{HoldId, Op, Stray};
use crate::store::redis::node::Node;
use crate::store::redis::wire::{Offer, PublishMode, forget_token};

/// How many names are tried: enough to find one in a hundredth of the slots, and soon done.
const NAMES: usize = 1000;

/// Reads and writes a lock that nobody else knows, which needs all rights, and publishes to a channel that nobody
/// hears.
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

/// Whether scripts may publish, too. Doubts are for them: where they turn out not to, who waits looks now and then.
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

/// Takes and gives back a lock in all the ways that need a right of their own, so that nobody finds out with a lock half
/// taken. Who may take none may still look at locks. Being refused for another reason (no memory, no replicas) is for
/// those who lock to deal with.
async fn try_writing(caller: &Arc<Caller>, key: &LockKey, deadline: Instant) -> Result<(), Error> {
    let deadline = deadline.min(Instant::now() + caller.env.options.response_timeout);
    let counter = AtomicU64::new(0);
    let holds = [(); 2].map(|()| HoldId::next(&caller.env.client, &counter));
    let acquires = holds.iter().map(|hold| Op::Acquire {
        hold: hold.clone(),
        mode: Mode::Read,
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
    // Nobody has to remember its last token.
    if let Some(node) = caller.servers.now().node(key.slot())
        && let Ok(mut session) = node.connected(deadline).await
    {
        let forget = forget_token(key);
        let _ = session.connection.request(&forget, deadline).await;
    }
    Ok(())
}
