//! Trying out what the servers offer and the user may do.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use redis::{Pipeline, ServerError, Value};
use tokio::time::Instant;

use super::core::Core;
use super::node::Node;
use super::publish::PublishMode;
use crate::error::Error;
use crate::key::LockKey;
use crate::lease::MIN_LEASE;
use crate::mode::Mode;
use crate::protocol::{HoldId, Op, Stray};

/// Reads and writes a lock that nobody else knows, which needs all rights, and publishes to a channel that nobody
/// hears.
pub(super) async fn probe(core: &Arc<Core>, deadline: Instant) -> Result<PublishMode, Error> {
    let topology = core.topology.load_full();
    // A node that is known to answer: another shard that is down does not keep the client from starting.
    let answering = topology.nodes().iter().find(|node| node.is_connected());
    let node = answering.or(topology.nodes().first());
    let prefix = &core.env.options.prefix;
    let client = core.env.client.as_str();
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
    core.call(&key, &Op::Inspect, deadline).await?;
    try_writing(core, &key, deadline).await?;
    Ok(match node {
        Some(node) => publish_mode(node, &key, deadline).await,
        None => PublishMode::Off,
    })
}

/// Takes and gives back a lock in all the ways that need a right of their own, so that nobody finds out with a lock half
/// taken. Who may take none may still look at locks. Being refused for another reason (no memory, no replicas) is for
/// those who lock to deal with.
async fn try_writing(core: &Arc<Core>, key: &LockKey, deadline: Instant) -> Result<(), Error> {
    let deadline = deadline.min(Instant::now() + core.env.options.response_timeout);
    let counter = AtomicU64::new(0);
    let holds = [(); 2].map(|()| HoldId::next(&core.env.client, &counter));
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
        match core.call(key, &op, deadline).await {
            Err(error) if step > 0 && error.is_unauthorized() => return Err(error),
            Err(_) => break,
            Ok(_) => {}
        }
    }
    // Nobody has to remember its last token.
    if let Some(node) = core.topology.load().node(key.slot())
        && let Ok(mut lease) = node.connected(deadline).await
    {
        let mut forget = redis::cmd("HDEL");
        forget.arg(key.as_str()).arg("t");
        let _ = lease.connection.request(&forget, deadline).await;
    }
    Ok(())
}

async fn publish_mode(node: &Arc<Node>, key: &LockKey, deadline: Instant) -> PublishMode {
    let channel = format!("{}~c:{}:probe", key.prefix(), key.tagged());
    let mut pipeline = Pipeline::with_capacity(2);
    for mode in [PublishMode::Sharded, PublishMode::Classic] {
        pipeline.cmd(mode.command()).arg(&channel).arg("");
    }
    let until = deadline.min(Instant::now() + node.env().options.response_timeout);
    let answers = match node.connected(until).await {
        Ok(mut lease) => lease.connection.request_all(&pipeline, until).await,
        Err(_) => return PublishMode::Sharded,
    };
    match answers.as_deref() {
        Ok([sharded, classic]) if cannot(sharded) => {
            if cannot(classic) {
                PublishMode::Off
            } else {
                PublishMode::Classic
            }
        }
        _ => PublishMode::Sharded,
    }
}

fn cannot(answer: &Value) -> bool {
    matches!(answer, Value::ServerError(error) if is_denied(error))
}

/// Whether the server does not know a command, or the user may not use it.
pub(super) fn is_denied(error: &ServerError) -> bool {
    let details = error.details().unwrap_or_default();
    details.starts_with("unknown command") || matches!(error.code(), "NOPERM")
}
