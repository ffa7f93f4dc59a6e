//! The task that delivers releases.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::mpsc::UnboundedReceiver;

use super::later::Later;
use super::outbox::Outbox;
use super::queue::Item;
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
    // For each node by itself, so that a slow one holds up nobody else's releases.
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
