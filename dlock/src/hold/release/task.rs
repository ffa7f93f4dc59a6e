//! The task that delivers releases, node by node.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::mpsc::UnboundedReceiver;

use super::queue::{Item, Later};
use crate::backoff::Backoff;
use crate::clock::{BootInstant, Instant, sleep_until};
use crate::error::Error;
use crate::metrics;
use crate::random::HashMap;
use crate::store::{Answer, NodeId, Patience, Store};

/// How many are received at once.
const SOME: usize = 256;

pub(super) async fn run(
    mut receiver: UnboundedReceiver<Item>,
    store: Arc<Store>,
    response_timeout: Duration,
) {
    let mut items = Vec::new();
    let mut later = Later::default();
    // For each node by itself, so that a slow node delays no releases of others.
    let mut outboxes: HashMap<NodeId, Outbox> = HashMap::default();
    let mut under_way = FuturesUnordered::new();
    let mut is_open = true;
    while is_open || !under_way.is_empty() || !outboxes.values().all(Outbox::is_empty) {
        let rests = outboxes.values().filter_map(Outbox::due);
        let due = later.due().into_iter().chain(rests).min();
        let next = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            count = receiver.recv_many(&mut items, SOME), if is_open => is_open = count > 0,
            Some(outcome) = under_way.next() => {
                let Outcome { node, unanswered, reached } = outcome;
                let outbox = outboxes.entry(node).or_default();
                outbox.ended(reached, unanswered.is_empty(), Instant::now());
                items.extend(unanswered);
            }
            () = next => {}
        }
        let now = Instant::now();
        for mut item in items.drain(..) {
            match item.due.take() {
                Some(due) if now < due => later.put(due, item),
                _ => outboxes
                    .entry(node_of(&store, &item))
                    .or_default()
                    .put(item),
            }
        }
        for item in later.take(now) {
            outboxes
                .entry(node_of(&store, &item))
                .or_default()
                .put(item);
        }
        for (node, outbox) in &mut outboxes {
            while let Some(batch) = outbox.batch(now) {
                under_way.push(deliver(&store, *node, batch, response_timeout));
            }
        }
        outboxes.retain(|_, outbox| !outbox.is_over(now));
    }
}

fn node_of(store: &Store, item: &Item) -> NodeId {
    store.node_of(item.key.slot())
}

/// What came of a batch.
struct Outcome {
    node: NodeId,
    /// To be sent again: their leases have not ended.
    unanswered: Vec<Item>,
    /// Whether the server has answered at all.
    reached: bool,
}

/// Sends a batch once.
async fn deliver(
    store: &Store,
    node: NodeId,
    items: Vec<Item>,
    response_timeout: Duration,
) -> Outcome {
    let batch: Vec<_> = items
        .iter()
        .map(|item| (item.key.clone(), item.op.clone()))
        .collect();
    // A server that is slow is not asked again and again, which would make it slower.
    let left = items
        .iter()
        .map(|item| item.until.since(BootInstant::now()));
    let until = Instant::now() + response_timeout;
    let latest = until.max(Instant::now() + left.max().unwrap_or_default());
    let (mut unanswered, mut reached) = (Vec::new(), false);
    // What was delivered is settled at once.
    let mut items: Vec<_> = items.into_iter().map(Some).collect();
    let tell = |index: usize, answer: Result<Answer, Error>| {
        match &answer {
            Ok(_) => reached = true,
            Err(error) => metrics::failed(error),
        }
        let item = items[index].take();
        let again = |item: &Item| BootInstant::now() < item.until && worth_another_try(&answer);
        unanswered.extend(item.filter(again));
    };
    store
        .call_batch(node, &batch, Patience { until, latest }, tell)
        .await;
    Outcome {
        node,
        unanswered,
        reached,
    }
}

/// A client that was shut down will not become able to send again.
fn worth_another_try(answer: &Result<Answer, Error>) -> bool {
    matches!(answer, Err(error) if !error.is_closed())
}

/// Releases in one pipeline, and pipelines under way to one node.
const BATCH: usize = 256;
const UNDER_WAY: usize = 4;

/// How long a node is left alone that has not answered, at first and at most.
const FIRST_REST: Duration = Duration::from_millis(50);
const LONGEST_REST: Duration = Duration::from_millis(500);

/// What part of the releases is sent after a rest, and no more before they are answered.
const TRIED: usize = 4;

/// The releases for one node. After a batch in vain all of them rest for a while: very many, each sent again by itself, would
/// keep this process busy for as long as a server is away.
#[derive(Default)]
pub(super) struct Outbox {
    items: VecDeque<Item>,
    under_way: usize,
    /// The end of the rest.
    due: Option<Instant>,
    /// The node has not answered since.
    rests: Option<Backoff>,
}

impl Outbox {
    pub(super) fn put(&mut self, item: Item) {
        self.items.push_back(item);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether there is nothing more to know about the node.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let rests = self.due.is_some_and(|due| now < due);
        self.is_empty() && self.under_way == 0 && !rests
    }

    /// When the rest is over, if there is something to send then.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| self.may_send())
    }

    fn may_send(&self) -> bool {
        let most = if self.rests.is_some() { 1 } else { UNDER_WAY };
        !self.is_empty() && self.under_way < most
    }

    /// What may be sent now.
    pub(super) fn batch(&mut self, now: Instant) -> Option<Vec<Item>> {
        let rests = self.due.is_some_and(|due| now < due);
        if rests || !self.may_send() {
            return None;
        }
        self.due = None;
        self.under_way += 1;
        let tried = if self.rests.is_some() { TRIED } else { 1 };
        let count = self.items.len().div_ceil(tried).min(BATCH);
        Some(self.items.drain(..count).collect())
    }

    /// A batch has come to its end.
    pub(super) fn ended(&mut self, reached: bool, all_answered: bool, now: Instant) {
        self.under_way -= 1;
        if reached {
            self.rests = None;
        }
        if !all_answered && self.due.is_none() {
            let first = || Backoff::new(FIRST_REST, LONGEST_REST);
            self.due = Some(now + self.rests.get_or_insert_with(first).pause());
        }
    }
}
