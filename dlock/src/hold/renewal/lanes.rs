//! Renewals on their way, node by node.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::hold::Hold;
use crate::random::HashMap;
use crate::store::NodeId;
use crate::sync::Mutex;

/// Renewals in one pipeline: enough to be cheap, few enough not to hold up other commands.
pub(super) const BATCH: usize = 256;

/// How many pipelines are under way to a node at once: enough to keep it busy, few enough for each to be answered soon.
pub(super) const AT_ONCE: usize = 8;

/// Where a renewal has gone, and by which connection: another that followed on the same one would only arrive behind it. In a
/// quorum there is not one connection, and each try may fare better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hold) struct Way {
    pub(super) node: NodeId,
    pub(super) connection: Option<u64>,
}

/// What is to be sent to each node, the most urgent first.
#[derive(Default)]
pub(super) struct Lanes(Mutex<HashMap<NodeId, Lane>>);

#[derive(Default)]
struct Lane {
    waiting: VecDeque<Arc<Hold>>,
    /// How many pipelines may be filled now.
    open: usize,
}

impl Lanes {
    /// Adds those of which no renewal is on this way already; how many pipelines have to be filled besides those that are.
    pub(super) fn add(&self, way: Way, holds: Vec<Arc<Hold>>) -> usize {
        let mut lanes = self.0.lock();
        let lane = lanes.entry(way.node).or_default();
        lane.waiting.extend(holds.into_iter().filter(|hold| {
            let before = hold.renewing.lock().replace(way);
            way.connection.is_none() || before != Some(way)
        }));
        let wanted = lane.waiting.len().div_ceil(BATCH).min(AT_ONCE);
        let more = wanted.saturating_sub(lane.open);
        lane.open += more;
        more
    }

    /// What goes into the next pipeline; `None` if there is nothing: the pipeline is closed.
    fn next(&self, node: NodeId) -> Option<Vec<Arc<Hold>>> {
        let mut lanes = self.0.lock();
        let lane = lanes.get_mut(&node)?;
        let count = lane.waiting.len().min(BATCH);
        if count > 0 {
            return Some(lane.waiting.drain(..count).collect());
        }
        lane.close();
        if lane.open == 0 {
            lanes.remove(&node);
        }
        None
    }

    /// The node does not answer: what waits for it would only wait as long. The next attempts are planned already.
    pub(super) fn give_up(&self, node: NodeId) {
        let waiting = self
            .0
            .lock()
            .get_mut(&node)
            .map(|lane| std::mem::take(&mut lane.waiting));
        for hold in waiting.into_iter().flatten() {
            arrived(&hold, node);
        }
    }
}

impl Lane {
    fn close(&mut self) {
        self.open -= 1;
    }
}

/// A pipeline to a node that is filled again and again, until nothing waits. Whatever ends it, its renewals count as ended.
pub(super) struct Pipeline<'l> {
    lanes: &'l Lanes,
    node: NodeId,
    pub(super) holds: Vec<Arc<Hold>>,
    is_open: bool,
}

impl<'l> Pipeline<'l> {
    /// One of those that [`Lanes::add`] has asked for.
    pub(super) fn new(lanes: &'l Lanes, node: NodeId) -> Self {
        Self {
            lanes,
            node,
            holds: Vec::new(),
            is_open: true,
        }
    }

    /// Takes what is to be sent next; whether there is anything.
    pub(super) fn fill(&mut self) -> bool {
        self.empty();
        let next = self.lanes.next(self.node);
        self.is_open = next.is_some();
        self.holds = next.unwrap_or_default();
        self.is_open
    }

    fn empty(&mut self) {
        for hold in self.holds.drain(..) {
            arrived(&hold, self.node);
        }
    }
}

impl Drop for Pipeline<'_> {
    fn drop(&mut self) {
        self.empty();
        if self.is_open
            && let Some(lane) = self.lanes.0.lock().get_mut(&self.node)
        {
            lane.close();
        }
    }
}

/// A renewal by way of this node has come to its end.
pub(super) fn arrived(hold: &Hold, node: NodeId) {
    let mut renewing = hold.renewing.lock();
    if renewing.is_some_and(|way| way.node == node) {
        *renewing = None;
    }
}
