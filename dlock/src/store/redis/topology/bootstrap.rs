//! From seeds to the first topology.

use std::sync::Arc;

use super::slots::Topology;
use super::survey::{AskFailure, STAGGER, ask_some};
use crate::clock::{Instant, sleep_until};
use crate::error::{Error, ErrorKind};
use crate::store::redis::backoff::Backoff;
use crate::store::redis::env::Env;
use crate::store::redis::node::{Node, Trouble};
use crate::store::redis::wire::View;

/// The first topology, and whether it is a cluster's.
pub(super) async fn first_topology(
    env: &Arc<Env>,
    deadline: Instant,
) -> Result<(Topology, bool), Error> {
    let seeds = env.options.addresses();
    let nodes: Vec<_> = seeds.map(|seed| Node::new(seed, env)).collect();
    let mut backoff = Backoff::of_request();
    let mut trouble = None;
    loop {
        let failures = match ask_some(nodes.clone(), 1, STAGGER, deadline).await {
            Ok(views) => {
                let view = choose(views, &nodes, deadline).await?;
                return Ok((Topology::new(&view, &nodes, env), view.epoch.is_some()));
            }
            Err(failures) => failures,
        };
        let now = Instant::now();
        if let Some(error) = verdict(failures, &mut trouble, now >= deadline, nodes.len()) {
            return Err(error);
        }
        sleep_until(deadline.min(now + backoff.pause())).await;
    }
}

/// Outside of a cluster all seeds are heard: two masters would be two locks of the same name.
async fn choose(
    mut views: Vec<View>,
    nodes: &[Arc<Node>],
    deadline: Instant,
) -> Result<View, Error> {
    if views[0].epoch.is_none() && nodes.len() > 1 {
        let patience = nodes[0].env().options.connect_timeout;
        let all = ask_some(nodes.to_vec(), nodes.len(), patience, deadline).await;
        views = all.unwrap_or(views);
    }
    if let [a, b, ..] = views.as_slice() {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "the seeds {} and {} are servers without a cluster, and neither is a replica; a lock \
                 must live on one of them: give one server, or a master and its replicas",
                a.by, b.by
            ),
        ));
    }
    Ok(views.swap_remove(0))
}

/// The error to end with, if it is time or if there is no hope. `trouble` is the one that has told most so far.
fn verdict(
    failures: Vec<AskFailure>,
    trouble: &mut Option<Trouble>,
    last_call: bool,
    seeds: usize,
) -> Option<Error> {
    let mut replica = None;
    let mut replicas = 0;
    for failure in failures {
        match failure {
            AskFailure::Fatal(error) => return Some(error),
            AskFailure::Replica(error) => {
                replicas += 1;
                replica.get_or_insert(error);
            }
            AskFailure::Trouble(some) => some.note(trouble),
        }
    }
    if replicas == seeds {
        return replica;
    }
    if !last_call {
        return None;
    }
    let error = trouble.take().map(Trouble::into_unavailable);
    error.or(replica).or_else(|| {
        Some(Error::new(
            ErrorKind::Unavailable,
            "no Redis server answered before the deadline; check that the servers run and that the \
             addresses are right",
        ))
    })
}
