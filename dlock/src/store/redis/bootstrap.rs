//! From seeds to the first topology.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::address::Address;
use super::backoff::Backoff;
use super::env::Env;
use super::node::Node;
use super::refresher::STAGGER;
use super::survey::{AskFailure, ask_some};
use super::topology::Topology;
use super::wire::View;
use crate::error::{Error, ErrorKind};

/// The first topology, and whether it is a cluster's.
pub(super) async fn first_topology(
    env: &Arc<Env>,
    deadline: Instant,
) -> Result<(Topology, bool), Error> {
    let seeds = seeds(env);
    let nodes: Vec<_> = seeds.into_iter().map(|seed| Node::new(seed, env)).collect();
    let mut backoff = Backoff::of_request();
    loop {
        let failures = match ask_some(nodes.clone(), 1, STAGGER, deadline).await {
            Ok(views) => {
                let view = choose(views, &nodes, deadline).await?;
                return Ok((Topology::new(&view, &nodes, env), view.epoch.is_some()));
            }
            Err(failures) => failures,
        };
        let now = Instant::now();
        if let Some(error) = verdict(failures, now >= deadline, nodes.len()) {
            return Err(error);
        }
        sleep_until(deadline.min(now + backoff.pause())).await;
    }
}

/// The addresses to start from.
pub(super) fn seeds(env: &Env) -> Vec<Address> {
    let seeds = env.options.seeds.iter();
    seeds
        .map(|(host, port)| Address::new(host, *port))
        .collect()
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

/// The error to end with, if it is time or if there is no hope.
fn verdict(failures: Vec<AskFailure>, last_call: bool, seeds: usize) -> Option<Error> {
    let mut replica = None;
    let mut trouble = None;
    let mut replicas = 0;
    for failure in failures {
        match failure {
            AskFailure::Fatal(error) => return Some(error),
            AskFailure::Replica(error) => {
                replicas += 1;
                replica.get_or_insert(error);
            }
            AskFailure::Trouble(some) => trouble = Some(some),
        }
    }
    if replicas == seeds {
        return replica;
    }
    if !last_call {
        return None;
    }
    let error = trouble.map(super::failure::Trouble::into_unavailable);
    error.or(replica).or_else(|| {
        Some(Error::new(
            ErrorKind::Unavailable,
            "no Redis server answered before the deadline; check that the servers run and that the \
             addresses are right",
        ))
    })
}
