//! Keeping the topology up to date.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::Core;
use super::address::Address;
use super::backoff::jitter;
use super::node::Node;
use super::survey::ask_some;
use super::topology::Topology;
use super::wire::View;

/// The least time between two surveys.
const PAUSE: Duration = Duration::from_millis(100);

/// The most time between two surveys, before jitter.
const INTERVAL: Duration = Duration::from_secs(30);

/// How long one server may keep the next one from being asked.
pub(super) const STAGGER: Duration = Duration::from_millis(100);

/// How long a survey may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// How other parts ask for a survey.
#[derive(Debug, Default)]
pub(super) struct RefreshSignal {
    wanted: Notify,
    /// Who named the node that a slot has moved to, and so knows more than others.
    informed: Mutex<Option<Address>>,
}

impl RefreshSignal {
    /// Something looked wrong.
    pub(super) fn request(&self) {
        self.wanted.notify_one();
    }

    /// A server redirected.
    pub(super) fn request_after_redirect(&self, by: &Address) {
        *self.informed.lock().unwrap_or_else(PoisonError::into_inner) = Some(by.clone());
        self.request();
    }

    fn take_informed(&self) -> Option<Address> {
        self.informed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// Surveys whenever somebody asks, and now and then unasked. Ends with the store's tasks.
pub(super) async fn refresh_forever(core: Arc<Core>) {
    loop {
        // Either way it is time.
        let _ = timeout(jitter(INTERVAL), core.env.refresh.wanted.notified()).await;
        refresh(&core).await;
        sleep(PAUSE).await;
    }
}

async fn refresh(core: &Arc<Core>) {
    let topology = core.topology.load_full();
    let informed = core.env.refresh.take_informed();
    let deadline = Instant::now() + PATIENCE;
    let candidates = candidates(core, &topology, informed.as_ref());
    let known: Vec<_> = candidates.iter().chain(topology.nodes()).cloned().collect();
    // Outside of a cluster the server stays the same for as long as it answers at all.
    let (enough, stagger) = if core.is_cluster {
        (2, STAGGER)
    } else {
        (1, PATIENCE)
    };
    if let Ok(views) = ask_some(candidates, enough, stagger, deadline).await
        && let Some(view) = newest(&views, informed.as_ref())
    {
        core.adopt(Topology::new(view, &known, &core.env));
    }
}

/// Whom to ask, in order: who redirected, connected nodes, seeds (whose names may have got other addresses
/// when all else is gone), other nodes.
fn candidates(core: &Core, topology: &Topology, informed: Option<&Address>) -> Vec<Arc<Node>> {
    let mut nodes = topology.nodes().to_vec();
    fastrand::shuffle(&mut nodes);
    nodes.sort_by_key(|node| (Some(node.address()) != informed, !node.is_connected()));
    let connected = nodes.iter().take_while(|node| node.is_connected()).count();
    let seeds = core.seeds().into_iter();
    let unknown: Vec<_> = seeds
        .filter(|seed| nodes.iter().all(|node| node.address() != seed))
        .map(|seed| Node::new(seed, &core.env))
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
