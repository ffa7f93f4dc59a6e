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
use crate::store::redis::wire::{PublishMode, forget_token, offered, try_publishing};

/// Reads and writes a lock that nobody else knows, which needs all rights, and publishes to a channel that nobody
/// hears.
pub(crate) async fn probe(caller: &Arc<Caller>, deadline: Instant) -> Result<PublishMode, Error> {
    let topology = caller.servers.topology();
    // A node that is known to answer: another shard that is down does not keep the client from starting.
    let answering = topology.nodes().iter().find(|node| node.is_connected());
    let node = answering.or(topology.nodes().first());
    let prefix = &caller.env.options.prefix;
    let client = caller.env.client.as_str();
    let mut names = (0..).map(|n| LockKey::new(prefix, &format!("probe:{client}:{n}")));
    let key = loop {
        // There is a name for every slot.
        if let Some(name) = names.next() {
            let key = name?;
            let home = topology.node(key.slot());
            if home.map(|home| home.id()) == node.map(|node| node.id()) {
                break key;
            }
        }
    };
    caller.call(&key, &Op::Inspect, deadline).await?;
    try_writing(caller, &key, deadline).await?;
    Ok(match node {
        Some(node) => publish_mode(caller, node, &key, deadline).await,
        None => PublishMode::Off,
    })
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

async fn publish_mode(
    caller: &Caller,
    node: &Arc<Node>,
    key: &LockKey,
    deadline: Instant,
) -> PublishMode {
    let channel = format!("{}~c:{}:probe", key.prefix(), key.tagged());
    let until = deadline.min(Instant::now() + caller.env.options.response_timeout);
    let Ok(mut session) = node.connected(until).await else {
        return PublishMode::Sharded;
    };
    let tries = try_publishing(&channel);
    match session.connection.request_all(&tries, until).await {
        Ok(answers) => offered(&answers),
        Err(_) => PublishMode::Sharded,
    }
}
