//! From seeds to the first topology.

use std::sync::Arc;

use super::slots::Topology;
use super::standalone::{PATIENCE, only_master};
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
    let settled = Instant::now() + PATIENCE;
    loop {
        let failures = match ask_some(nodes.clone(), 1, STAGGER, deadline).await {
            Ok(mut views) => {
                let first = views.swap_remove(0);
                match the_view(first, &nodes, deadline).await {
                    Ok(view) => {
                        return Ok((Topology::new(&view, &nodes, env), view.epoch.is_some()));
                    }
                    Err(failures) => failures,
                }
            }
            Err(failures) => failures,
        };
        let now = Instant::now();
        let time = Time {
            settled: now >= settled,
            last_call: now >= deadline,
        };
        if let Some(error) = verdict(failures, &mut trouble, time, nodes.len()) {
            return Err(error);
        }
        sleep_until(deadline.min(now + backoff.pause())).await;
    }
}

/// Outside of a cluster all seeds are heard.
async fn the_view(
    first: View,
    nodes: &[Arc<Node>],
    deadline: Instant,
) -> Result<View, Vec<AskFailure>> {
    let [one, _, ..] = nodes else {
        return Ok(first);
    };
    if first.epoch.is_some() {
        return Ok(first);
    }
    // As long as a connection may take, and an answer on it.
    let options = &one.env().options;
    let patience = options.connect_timeout + options.response_timeout;
    only_master(nodes, deadline.min(Instant::now() + patience)).await
}

/// What it is time for.
#[derive(Clone, Copy)]
struct Time {
    /// Who is the master has had time to become clear.
    settled: bool,
    last_call: bool,
}

/// The error to end with, if it is time or if there is no hope. `trouble` is the one that has told most so far.
fn verdict(
    failures: Vec<AskFailure>,
    trouble: &mut Option<Trouble>,
    time: Time,
    seeds: usize,
) -> Option<Error> {
    let (mut replica, mut several) = (None, None);
    let mut replicas = 0;
    for failure in failures {
        match failure {
            AskFailure::Fatal(error) => return Some(error),
            AskFailure::Replica(error) => {
                replicas += 1;
                replica.get_or_insert(error);
            }
            AskFailure::SeveralMasters(error) => several = Some(error),
            AskFailure::Trouble(some) => some.note(trouble),
        }
    }
    if time.settled || time.last_call {
        if several.is_some() {
            return several;
        }
        if replicas == seeds {
            return replica;
        }
    }
    if !time.last_call {
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
