//! The task that renews.

use std::sync::Arc;
use std::time::Duration;

use super::Renewals;
use super::lanes::{Pipeline, Way, arrived};
use crate::clock::{BootInstant, Instant, sleep};
use crate::error::{Error, LossReason};
use crate::hold::Hold;
use crate::metrics;
use crate::protocol::{Extent, Op, Reply};
use crate::random::HashMap;
use crate::store::{Answer, NodeId, Store};
use crate::tasks;

/// How soon a renewal is tried again at the earliest, however little of the lease is left: with many holds and a
/// server that does not answer, ever shorter pauses would keep a processor busy.
const RETRY: Duration = Duration::from_millis(10);

/// Sleeps are cut to this, because timers stand still while the machine is suspended.
const NAP: Duration = Duration::from_secs(1);

pub(super) async fn run(renewals: Arc<Renewals>, store: Arc<Store>) {
    // Locks held briefly one after the other would each wake this task if it slept for good whenever
    // none is held. It sleeps for good only after a nap at whose start there was none.
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
    for (node, holds) in by_node {
        let way = Way {
            node,
            connection: store.way_to(node),
        };
        for _ in 0..renewals.lanes.add(way, holds) {
            tasks::spawn(renew(Arc::clone(renewals), Arc::clone(store), node));
        }
    }
}

/// Fills one pipeline after the other, until all is sent that waits for the node.
async fn renew(renewals: Arc<Renewals>, store: Arc<Store>, node: NodeId) {
    let mut pipeline = Pipeline::new(&renewals.lanes, node);
    while pipeline.fill() {
        let holds = &pipeline.holds;
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
        let deadline = Instant::now() + renewals.response_timeout;
        let mut unreachable = true;
        let tell = |index: usize, answer: Result<Answer, Error>| {
            unreachable &= answer.is_err();
            arrived(&holds[index], node);
            settle(&renewals, &holds[index], answer);
        };
        store.call_batch(node, &batch, deadline, tell).await;
        if unreachable {
            renewals.lanes.give_up(node);
        }
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
                    hold.metrics.renewed_before(deadline);
                }
                let due = hold.next_renewal(answer.sent_at);
                renewals.again(Arc::clone(hold), due);
            }
        }
        Ok(_) => {
            // One that has been given to others is theirs: the answer to that tells.
            if hold.is_live() && !hold.is_yielding() {
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
