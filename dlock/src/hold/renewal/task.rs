//! The task that renews, and the renewals that are under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};

use super::Renewals;
use crate::clock::{BootInstant, Instant, sleep};
use crate::error::{Error, LossReason};
use crate::hold::Hold;
use crate::protocol::{Extent, Op, Reply};
use crate::random::HashMap;
use crate::store::{Answer, NodeId, Patience, Store};
use crate::{metrics, tasks};

/// Renewals in one pipeline: enough to be cheap, few enough not to hold up other commands.
const BATCH: usize = 256;

/// How many pipelines are under way at once: enough to keep a server busy, few enough for each to be answered soon.
const AT_ONCE: usize = 8;

/// How soon a renewal is tried again at the earliest, however little of the lease is left: with many holds and a
/// server that does not answer, ever shorter pauses would keep a processor busy.
const RETRY: Duration = Duration::from_millis(10);

/// Sleeps are cut to this, because timers stand still while the machine is suspended.
const NAP: Duration = Duration::from_secs(1);

pub(super) async fn run(renewals: Arc<Renewals>, store: Arc<Store>) {
    // Locks held briefly one after the other would each wake this task if it slept for good whenever
    // none is held. It sleeps until notified only after a nap that began without holds.
    let mut rested = true;
    while !renewals.is_stopped() {
        let now = BootInstant::now();
        let due = renewals.due(now);
        if !due.is_empty() {
            dispatch(&renewals, &store, due, now);
            renewals.dispatched();
        }
        let now = BootInstant::now();
        let (wake_at, empty) = renewals.plan_sleep(now + NAP, rested);
        rested = empty;
        match wake_at {
            None => {
                renewals.changed.notified().await;
                rested = false;
            }
            Some(wake_at) => tokio::select! {
                () = renewals.changed.notified() => rested = false,
                () = sleep(wake_at.since(now)) => {}
            },
        }
    }
}

/// Sends what is due, to each node by itself, so that a slow node holds up only its own holds. Each
/// hold stays in the queue for the next attempt, which an acknowledgement puts off; one that comes while the last is still
/// on its way is left out.
fn dispatch(renewals: &Arc<Renewals>, store: &Arc<Store>, due: Vec<Arc<Hold>>, now: BootInstant) {
    let mut by_node: HashMap<NodeId, Vec<Arc<Hold>>> = HashMap::default();
    for hold in due {
        if let Some(reason) = hold.loss() {
            renewals.lose(&hold, reason);
            continue;
        }
        if hold.give_up_at() <= now {
            renewals.lose(&hold, LossReason::MaxHold);
            continue;
        }
        let left = hold.deadline().since(now);
        let patience = (hold.terms.lease / 6)
            .min(renewals.response_timeout)
            .min(left / 3)
            .max(RETRY);
        renewals.again(
            Arc::clone(&hold),
            (now + patience).min(hold.deadline()).min(hold.give_up_at()),
        );
        by_node
            .entry(store.node_of(hold.key.slot()))
            .or_default()
            .push(hold);
    }
    for (node, mut holds) in by_node {
        // With very many, the last ones are sent a while later.
        holds.sort_by_cached_key(|hold| hold.deadline());
        let sending = Sending::begin(node, store.way_to(node), holds);
        if !sending.holds.is_empty() {
            tasks::spawn(renew(Arc::clone(renewals), Arc::clone(store), sending));
        }
    }
}

/// Sends a few pipelines at once, until all is sent.
async fn renew(renewals: Arc<Renewals>, store: Arc<Store>, sending: Sending) {
    let silent = AtomicBool::new(false);
    let chunks = sending.holds.chunks(BATCH);
    let all: Vec<_> = chunks
        .map(|chunk| renew_some(&renewals, &store, &sending, &silent, chunk))
        .collect();
    let mut sent = stream::iter(all).buffer_unordered(AT_ONCE);
    while sent.next().await.is_some() {}
}

/// Sends one pipeline, unless another found the node silent.
async fn renew_some(
    renewals: &Renewals,
    store: &Store,
    sending: &Sending,
    silent: &AtomicBool,
    holds: &[Arc<Hold>],
) {
    if silent.load(Ordering::Relaxed) {
        // Another renewal would only wait as long: the next attempts are queued already.
        return;
    }
    let batch: Vec<_> = holds
        .iter()
        .map(|hold| {
            let op = Op::Renew {
                hold: hold.id.clone(),
                lease: hold.terms.lease,
                extent: Extent::Longer,
            };
            (hold.key.clone(), op)
        })
        .collect();
    let until = Instant::now() + renewals.response_timeout;
    // Behind much else, an answer may take longer, and is of use for as long as a lease lasts.
    let left = holds
        .last()
        .map(|hold| hold.deadline().since(BootInstant::now()));
    let latest = until.max(Instant::now() + left.unwrap_or_default());
    let mut reached = false;
    let tell = |index: usize, answer: Result<Answer, Error>| {
        reached |= answer.is_ok();
        sending.arrived(&holds[index]);
        settle(renewals, &holds[index], answer);
    };
    let to = sending.node();
    store
        .call_batch(to, &batch, Patience { until, latest }, tell)
        .await;
    if !reached {
        silent.store(true, Ordering::Relaxed);
    }
}

/// Three outcomes: renewed, lost because the server says so, or unknown, which is tried again
/// until the deadline.
fn settle(renewals: &Renewals, hold: &Arc<Hold>, answer: Result<Answer, Error>) {
    match answer {
        Ok(answer) if answer.reply == Reply::Done => {
            let (deadline, provisional) = (hold.deadline(), hold.is_provisional());
            if hold.extend(answer.sent_at) {
                hold.metrics.renewal("renewed");
                if !provisional {
                    hold.metrics.renewed_before(deadline, hold.terms.lease);
                }
                let due = hold.next_renewal(answer.sent_at);
                renewals.again(Arc::clone(hold), due);
            }
        }
        Ok(_) => {
            if hold.is_live() && !hold.missing_while_yielding() {
                hold.metrics.renewal("lost");
                renewals.lose(hold, LossReason::Removed);
            }
        }
        Err(error) => {
            hold.metrics.renewal("unknown");
            metrics::failed(&error);
        }
    }
}

/// Stands for the connection of a renewal where there is not one: in a quorum, for example, where each try may fare better.
const NOT_ONE: u64 = u64::MAX;

/// Renewals that have gone on one connection: another that followed on the same would only arrive behind them. Whatever ends
/// them, others may follow.
pub(super) struct Sending {
    node: NodeId,
    connection: u64,
    pub(super) holds: Vec<Arc<Hold>>,
}

impl Sending {
    /// Keeps the holds that have no renewal on this connection.
    pub(super) fn begin(node: NodeId, connection: Option<u64>, mut holds: Vec<Arc<Hold>>) -> Self {
        let connection = connection.unwrap_or(NOT_ONE);
        holds.retain(|hold| {
            let before = hold.renewing.swap(connection, Ordering::AcqRel);
            before != connection || connection == NOT_ONE
        });
        Self {
            node,
            connection,
            holds,
        }
    }

    pub(super) fn node(&self) -> NodeId {
        self.node
    }

    /// A renewal has come to its end.
    pub(super) fn arrived(&self, hold: &Hold) {
        // Another connection has taken over if it is not this one's.
        let _ =
            hold.renewing
                .compare_exchange(self.connection, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        for hold in &self.holds {
            self.arrived(hold);
        }
    }
}
