//! The task that delivers releases.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;

use super::queue::Item;
use crate::clock::{BootInstant, Instant, sleep, sleep_until};
use crate::error::Error;
use crate::metrics;
use crate::random::{self, HashMap};
use crate::store::{Answer, NodeId, Store};
use crate::tasks;

/// Releases in one pipeline.
const BATCH: usize = 256;

pub(super) async fn run(
    mut receiver: UnboundedReceiver<Item>,
    store: Arc<Store>,
    response_timeout: Duration,
) {
    let mut items = Vec::new();
    // All of them wait equally long.
    let mut later: VecDeque<(Instant, Item)> = VecDeque::new();
    loop {
        let due = later.front().map(|(due, _)| *due);
        let next = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            count = receiver.recv_many(&mut items, BATCH) => if count == 0 {
                return;
            },
            () = next => {}
        }
        for item in items.extract_if(.., |item| item.due.is_some()) {
            later.extend(item.due.map(|due| (due, item)));
        }
        let now = Instant::now();
        while later.front().is_some_and(|(due, _)| *due <= now) {
            items.extend(later.pop_front().map(|(_, item)| item));
        }
        for (node, items) in by_node(&store, items.drain(..)) {
            // A job for each node, so that a slow one holds up nobody else's releases.
            tasks::spawn(deliver(Arc::clone(&store), node, items, response_timeout));
        }
    }
}

fn by_node(store: &Store, items: impl Iterator<Item = Item>) -> HashMap<NodeId, Vec<Item>> {
    let mut groups: HashMap<NodeId, Vec<Item>> = HashMap::default();
    for item in items {
        let node = store.node_of(item.key.slot());
        groups.entry(node).or_default().push(item);
    }
    groups
}

/// Sends until answered, or until the lease has ended anyway.
async fn deliver(store: Arc<Store>, node: NodeId, items: Vec<Item>, response_timeout: Duration) {
    let mut groups = HashMap::from_iter([(node, items)]);
    while !groups.is_empty() {
        let mut unanswered = Vec::new();
        for (node, items) in groups {
            let batch: Vec<_> = items
                .iter()
                .map(|item| (item.key.clone(), item.op.clone()))
                .collect();
            let deadline = Instant::now() + response_timeout;
            // What was delivered is settled at once.
            let mut items: Vec<_> = items.into_iter().map(Some).collect();
            let tell = |index: usize, answer: Result<Answer, Error>| {
                if let Err(error) = &answer {
                    metrics::failed(error);
                }
                let item = items[index].take();
                let again =
                    |item: &Item| BootInstant::now() < item.until && worth_another_try(&answer);
                unanswered.extend(item.filter(again));
            };
            store.call_batch(node, &batch, deadline, tell).await;
        }
        groups = by_node(&store, unanswered.into_iter());
        if !groups.is_empty() {
            sleep(Duration::from_millis(random::u64(20..200))).await;
        }
    }
}

/// A client that was shut down will not become able to send again.
fn worth_another_try(answer: &Result<Answer, Error>) -> bool {
    matches!(answer, Err(error) if !error.is_closed())
}
