//! Releases that no caller waits for, of dropped guards and cancelled acquires: their queue, and the task that delivers them,
//! node by node. Called by the keeper of the holds.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::Hold;
use super::farewell::{Farewell, Pending, Tally};
use crate::backoff::Backoff;
use crate::clock::{BootInstant, Instant, sleep_until};
use crate::error::Error;
use crate::key::LockKey;
use crate::kind::LockKind;
use crate::metrics;
use crate::protocol::{Extent, HoldId, Op, Stray, validity};
use crate::random::HashMap;
use crate::store::{Answer, NodeId, Patience, Store};
use crate::tasks::Place;

/// A hold that stays for longer is not released before its end: waiters find the end at their next look, and very many such
/// holds would fill the memory.
const FOLLOWED: Duration = Duration::from_secs(60);

/// One release or abandon to deliver.
#[derive(Debug)]
pub(super) struct Item {
    key: LockKey,
    pub(super) op: Op,
    /// The lease has ended by then, so there is nothing left to deliver.
    until: BootInstant,
    /// Not to be delivered before.
    due: Option<Instant>,
    _pending: Option<Pending>,
    _queued: Option<Pending>,
}

/// Where dropped guards leave their releases. It has no limit, so that none is ever lost.
#[derive(Debug, Clone)]
pub(super) struct Releases {
    sender: mpsc::UnboundedSender<Item>,
    tally: Arc<Tally>,
    /// How long after the end of a hold a copy of its acquire may arrive.
    strays_for: Duration,
    /// Models have none, nor a task that delivers.
    farewell: Option<Arc<Farewell>>,
}

impl Releases {
    /// Starts the task that empties the queue. It ends once every clone of this is gone and the queue is empty.
    pub(super) fn start(store: Arc<Store>, response_timeout: Duration) -> Self {
        let (mut releases, receiver) = Self::new();
        releases.farewell = Some(Farewell::new());
        releases.strays_for = 2 * validity(response_timeout);
        Place::own().spawn(run(receiver, store, response_timeout));
        releases
    }

    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Item>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let releases = Self {
            sender,
            tally: Arc::default(),
            strays_for: Duration::ZERO,
            farewell: None,
        };
        (releases, receiver)
    }

    /// Marks an acquire or release as under way: `flush` waits for it.
    pub(super) fn begin(&self) -> Pending {
        Pending::new(&self.tally)
    }

    /// Completes when nothing is under way.
    pub(super) async fn flush(&self) {
        self.tally.zero().await;
    }

    /// Gives a hold back.
    pub(super) fn release(&self, hold: &Hold) {
        let (key, lease) = (hold.key.clone(), hold.longest());
        self.push(key, of(hold), lease, self.begin());
    }

    /// Undoes an acquire that no caller wants any more.
    pub(super) fn abandon(
        &self,
        key: LockKey,
        hold: HoldId,
        stray: Stray,
        lease: Duration,
        pending: Pending,
    ) {
        self.push(key, Op::Abandon { hold, stray }, lease, pending);
    }

    /// What was queued on this thread is delivered before its runtime has ended, or now if it has none.
    pub(super) fn see_off(&self) {
        if let Some(farewell) = &self.farewell {
            farewell.see_off();
        }
    }

    fn push(&self, key: LockKey, op: Op, lease: Duration, pending: Pending) {
        self.send_later(self.follow_up(&key, &op, lease));
        // The task that receives runs where nothing ends.
        let _ = self.sender.send(Item {
            key,
            op,
            until: BootInstant::now() + lease,
            due: None,
            _pending: Some(pending),
            _queued: self.farewell.as_ref().map(|farewell| farewell.queued()),
        });
    }

    /// The operations to send later, if `op` is sent now. (Not if the client has been shut down by then.)
    ///
    /// A hold that stays for a while ends by itself, without a message to waiters: so it is released just before. And a plain `SET`
    /// has no validity: a delayed duplicate of it may take a mutex for no client, which is released once none can arrive any more.
    pub(super) fn follow_up(&self, key: &LockKey, op: &Op, lease: Duration) -> Vec<Item> {
        let mut items = Vec::new();
        let (hold, stays) = match op {
            Op::Renew { hold, lease, .. } => (hold, *lease),
            Op::Release { hold, .. } | Op::Abandon { hold, .. } => (hold, Duration::ZERO),
            _ => return items,
        };
        let rest = stays.saturating_sub(SPARE);
        if !rest.is_zero() && rest <= FOLLOWED {
            let release = of_another(hold.clone(), lease);
            items.push(later(key, release, rest, stays + lease));
        }
        let late = key.kind() == LockKind::Mutex && op.stray() != Stray::None;
        if late && stays < self.strays_for {
            let abandon = Op::Abandon {
                hold: hold.clone(),
                stray: Stray::None,
            };
            items.push(later(
                key,
                abandon,
                self.strays_for,
                self.strays_for + lease,
            ));
        }
        items
    }

    /// Has [`follow_up`](Self::follow_up) sent when it is due.
    pub(super) fn send_later(&self, items: Vec<Item>) {
        for item in items {
            let _ = self.sender.send(item);
        }
    }
}

fn later(key: &LockKey, op: Op, after: Duration, within: Duration) -> Item {
    Item {
        key: key.clone(),
        op,
        until: BootInstant::now() + within,
        due: Some(Instant::now() + after),
        _pending: None,
        _queued: None,
    }
}

/// How much longer a hold stays that has to stay for a while. Its end by itself wakes no waiter, so it is released before that.
const SPARE: Duration = Duration::from_millis(200);

/// The release of a hold of this client. One that has to stay for a while gets an end at which it is gone by itself,
/// whatever becomes of this process.
#[inline]
pub(super) fn of(hold: &Hold) -> Op {
    if let Some(rest) = hold.rest() {
        return Op::Renew {
            hold: hold.id.clone(),
            lease: rest + SPARE,
            extent: Extent::Exactly {
                stray: hold.stray(),
            },
        };
    }
    Op::Release {
        hold: hold.id.clone(),
        lease: hold.terms.lease,
        stray: hold.stray(),
        spent: hold.spent(),
    }
}

/// The release of a hold of which only the id is known.
pub(super) fn of_another(hold: HoldId, lease: Duration) -> Op {
    Op::Release {
        hold,
        lease,
        stray: Stray::None,
        spent: None,
    }
}

/// Releases by the time at which they are due.
#[derive(Default)]
struct Later {
    items: BTreeMap<(Instant, u64), Item>,
    number: u64,
}

impl Later {
    fn put(&mut self, due: Instant, item: Item) {
        self.number += 1;
        self.items.insert((due, self.number), item);
    }

    /// When the first release is due.
    fn due(&self) -> Option<Instant> {
        self.items.keys().next().map(|(due, _)| *due)
    }

    /// Takes the releases that are due.
    fn take(&mut self, now: Instant) -> impl Iterator<Item = Item> {
        std::iter::from_fn(move || {
            let first = self.items.first_entry()?;
            (first.key().0 <= now).then(|| first.remove())
        })
    }
}

/// How many are received at once.
const SOME: usize = 256;

async fn run(mut receiver: UnboundedReceiver<Item>, store: Arc<Store>, response_timeout: Duration) {
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
struct Outbox {
    items: VecDeque<Item>,
    under_way: usize,
    /// The end of the rest.
    due: Option<Instant>,
    /// The node has not answered since.
    rests: Option<Backoff>,
}

impl Outbox {
    fn put(&mut self, item: Item) {
        self.items.push_back(item);
    }

    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether there is nothing more to know about the node.
    fn is_over(&self, now: Instant) -> bool {
        let rests = self.due.is_some_and(|due| now < due);
        self.is_empty() && self.under_way == 0 && !rests
    }

    /// When the rest is over, if there is something to send then.
    fn due(&self) -> Option<Instant> {
        self.due.filter(|_| self.may_send())
    }

    fn may_send(&self) -> bool {
        let most = if self.rests.is_some() { 1 } else { UNDER_WAY };
        !self.is_empty() && self.under_way < most
    }

    /// What may be sent now.
    fn batch(&mut self, now: Instant) -> Option<Vec<Item>> {
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
    fn ended(&mut self, reached: bool, all_answered: bool, now: Instant) {
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
