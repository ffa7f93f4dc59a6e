//! Finding the topology from seeds, and keeping it up to date.

use std::sync::Arc;
use std::time::Duration;

use super::servers::{Servers, Topology};
use super::survey::{AskFailure, HEARING, PATIENCE, STAGGER, ask_some, master, only_master};
use crate::backoff::{Backoff, jitter};
use crate::clock::{Instant, sleep, sleep_until, timeout};
use crate::error::{Error, ErrorKind};
use crate::random;
use crate::store::redis::address::Address;
use crate::store::redis::env::Env;
use crate::store::redis::node::{Node, Trouble};
use crate::store::redis::wire::View;
use crate::tasks::Place;

/// The least time between two surveys. In a cluster the pause doubles with each survey that brings no news, and is as long as
/// the last survey took, up to half a second: very many clients that wait for one server would keep the others busy with
/// questions. (Outside of one, how soon a client leaves a server that is silent is part of the rules by which two masters are
/// told apart: see `survey.rs`.)
const PAUSE: Duration = Duration::from_millis(100);
const LONG_PAUSE: Duration = Duration::from_millis(500);

/// The most time between two surveys, before jitter.
const INTERVAL: Duration = Duration::from_secs(30);

/// How long a survey of a cluster may take.
const SURVEY: Duration = Duration::from_secs(2);

impl Servers {
    /// Keeps the topology up to date from now on, and calls back when it has changed.
    pub(crate) fn keep(self: &Arc<Self>, changed: impl Fn() + Send + Sync + 'static) {
        let refreshing = refresh_forever(Arc::clone(self), changed);
        self.env().tasks.spawn(&Place::own(), refreshing);
    }
}

/// Surveys when requested, and at intervals; calls back when other servers serve the slots. Ends with
/// the store's tasks.
async fn refresh_forever(servers: Arc<Servers>, changed: impl Fn()) {
    let env = servers.env();
    let mut pause = PAUSE;
    loop {
        // While callers wait for a server, another may be taking its place.
        let is_urgent = servers.now().nodes().iter().any(|node| node.is_awaited());
        if !is_urgent {
            let idle_since = Instant::now();
            // Either way it is time.
            let _ = timeout(jitter(INTERVAL), env.refresh.wanted()).await;
            if idle_since.elapsed() > LONG_PAUSE {
                pause = PAUSE;
            }
        }
        for node in servers.topology().nodes() {
            node.move_home();
        }
        let began = Instant::now();
        let informed = env.refresh.take_informed();
        let differs = refresh(&servers, informed.as_ref()).await;
        if differs {
            changed();
        }
        pause = if differs || informed.is_some() || !servers.is_cluster() {
            PAUSE
        } else {
            LONG_PAUSE.min((2 * pause).max(began.elapsed()))
        };
        sleep(PAUSE.max(jitter(pause))).await;
    }
}

/// Whether something has changed.
async fn refresh(servers: &Servers, informed: Option<&Address>) -> bool {
    let topology = servers.topology();
    let candidates = candidates(servers, &topology, informed);
    let mut known: Vec<_> = candidates.iter().chain(topology.nodes()).cloned().collect();
    let mut views = if servers.is_cluster() {
        let deadline = Instant::now() + SURVEY;
        let asked = ask_some(candidates, 2, STAGGER, deadline).await;
        asked.unwrap_or_default()
    } else {
        let master = match topology.masters().first() {
            Some(own) => master(own, &candidates).await,
            None => None,
        };
        let (view, node) = master.unzip();
        // Another server at the same address is another node.
        known.splice(0..0, node);
        Vec::from_iter(view)
    };
    // A server does not become a cluster, nor a cluster a server, while a client uses it: such an answer is another server's.
    views.retain(|view| view.epoch.is_some() == servers.is_cluster());
    newest(&views, informed)
        .is_some_and(|view| servers.adopt(Topology::new(view, &known, servers.env())))
}

/// The servers to ask, in order: the last one that redirected, connected nodes (in the end those that may be dead), seeds
/// (their names may have other addresses now), other nodes.
fn candidates(
    servers: &Servers,
    topology: &Topology,
    informed: Option<&Address>,
) -> Vec<Arc<Node>> {
    let mut nodes = topology.nodes().to_vec();
    random::shuffle(&mut nodes);
    // What it is sorted by may change meanwhile.
    nodes.sort_by_cached_key(|node| {
        let is_other = Some(node.address()) != informed;
        (is_other, !node.is_connected(), node.is_doubted())
    });
    let connected = nodes.iter().take_while(|node| node.is_connected()).count();
    let seeds = servers.env().options.addresses().into_iter();
    let unknown: Vec<_> = seeds
        .filter(|seed| nodes.iter().all(|node| node.address() != seed))
        .map(|seed| Node::new(seed, servers.env()))
        .collect();
    nodes.splice(connected..connected, unknown);
    nodes
}

/// Of views that differ, the one that knows of the latest change; in doubt that of the redirecting node.
fn newest<'v>(views: &'v [View], informed: Option<&Address>) -> Option<&'v View> {
    views
        .iter()
        .max_by_key(|view| (view.epoch, Some(&view.by) == informed))
}

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
    /// Which server is the master has had time to become clear.
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
