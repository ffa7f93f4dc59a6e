//! From seeds to the first topology.

use std::sync::Arc;

use super::slots::Topology;
use super::standalone::{HEARING, PATIENCE, only_master};
use super::survey::{AskFailure, STAGGER, ask_some};
use crate::backoff::Backoff;
use crate::clock::{Instant, sleep_until};
use crate::error::{Error, ErrorKind};
use crate::store::redis::env::Env;
use crate::store::redis::node::{Node, Trouble};
use crate::store::redis::wire::View;

/// The first topology, and whether it is a cluster's.
pub(super) async fn first_topology(
    env: &Arc<Env>,
    deadline: Instant,
) -> Result<(Topology, bool), Error> {
    let seeds = env.options.addresses().into_iter();
    let nodes: Vec<_> = seeds.map(|seed| Node::new(seed, env)).collect();
    let mut backoff = Backoff::of_request();
    let mut heard = Heard::default();
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
        if let Some(error) = heard.verdict(failures, time, nodes.len()) {
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
    if first.epoch.is_some() || nodes.len() == 1 {
        return Ok(first);
    }
    // A seed that is silent must leave time for what comes after.
    let now = Instant::now();
    only_master(nodes, now + HEARING.min((deadline - now) / 2)).await
}

/// What it is time for.
#[derive(Clone, Copy)]
struct Time {
    /// Who is the master has had time to become clear.
    settled: bool,
    last_call: bool,
}

/// What has been said so far.
#[derive(Default)]
struct Heard {
    /// That tells most.
    trouble: Option<Trouble>,
    /// That several were masters, or none, unless something else has been said since.
    undecided: Option<Error>,
}

impl Heard {
    /// The error to end with, if it is time or if there is no hope.
    fn verdict(&mut self, failures: Vec<AskFailure>, time: Time, seeds: usize) -> Option<Error> {
        let (mut replica, mut undecided) = (None, None);
        let mut replicas = 0;
        for failure in failures {
            match failure {
                AskFailure::Fatal(error) => return Some(error),
                AskFailure::Replica(error) => {
                    replicas += 1;
                    replica.get_or_insert(error);
                }
                AskFailure::SeveralMasters(error) => undecided = Some(error),
                AskFailure::Trouble(some) => {
                    if some.tells() {
                        self.undecided = None;
                    }
                    some.note(&mut self.trouble);
                }
            }
        }
        if replicas == seeds {
            undecided = replica.take();
        }
        if undecided.is_some() {
            self.undecided = undecided;
            if time.settled {
                return self.undecided.take();
            }
        }
        if !time.last_call {
            return None;
        }
        let trouble = || self.trouble.take().map(Trouble::into_unavailable);
        let error = self.undecided.take().or_else(trouble).or(replica);
        error.or_else(|| {
            Some(Error::new(
                ErrorKind::Unavailable,
                "no Redis server answered before the deadline; check that the servers run and that the \
                 addresses are right",
            ))
        })
    }
}
