//! Keeping holds alive: when each needs attention, and the task that renews them. Called by the keeper of the holds.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::sync::Notify;

use super::release::Releases;
use super::{Hold, OnLoss};
use crate::clock::{BootInstant, Instant, sleep};
use crate::error::{Error, LossReason};
use crate::lease::margin;
use crate::metrics;
use crate::protocol::{Extent, Op, Reply};
use crate::random::HashMap;
use crate::store::{Answer, NodeId, Patience, Store};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::tasks::{self, Place};

/// All holds of a client, renewed by one task.
pub(super) struct Renewals {
    queue: Mutex<Queue>,
    /// Boot clock, ns: until when the task sleeps. A hold that is due later need not wake it.
    sleeps_until: AtomicU64,
    pub(super) changed: Notify,
    stopped: AtomicBool,
    /// Whether holds have been taken out of the queue that are still to be put back.
    dispatching: AtomicBool,
    on_loss: Weak<dyn OnLoss>,
    releases: Releases,
    response_timeout: Duration,
}

impl Renewals {
    pub(super) fn start(
        on_loss: Weak<dyn OnLoss>,
        store: Arc<Store>,
        releases: Releases,
        response_timeout: Duration,
    ) -> Arc<Self> {
        let renewals = Arc::new(Self::new(on_loss, releases, response_timeout));
        Place::own().spawn(run(Arc::clone(&renewals), store));
        renewals
    }

    pub(super) fn new(
        on_loss: Weak<dyn OnLoss>,
        releases: Releases,
        response_timeout: Duration,
    ) -> Self {
        Self {
            queue: Mutex::default(),
            sleeps_until: AtomicU64::new(u64::MAX),
            changed: Notify::new(),
            stopped: AtomicBool::new(false),
            dispatching: AtomicBool::new(false),
            on_loss,
            releases,
            response_timeout,
        }
    }

    /// Starts to renew a hold. `false` after [`stop`](Self::stop): then the hold must go back.
    pub(super) fn add(&self, hold: &Arc<Hold>) -> bool {
        let due = hold.next_renewal(hold.granted_at);
        let mut queue = self.queue.lock();
        if self.stopped.load(Ordering::Relaxed) {
            return false;
        }
        queue.put(Arc::clone(hold), due);
        drop(queue);
        let until = self.sleeps_until.load(Ordering::Acquire);
        // One that should be awake may have slept on: its timer stands still during suspend.
        if due.as_nanos() < until || until <= hold.granted_at.as_nanos() {
            self.changed.notify_one();
        }
        true
    }

    /// Stops to renew a hold.
    pub(super) fn remove(&self, hold: &Hold) {
        self.queue.lock().take(hold);
    }

    /// Renews a hold now, unless it has ended.
    pub(super) fn hasten(&self, hold: &Arc<Hold>) {
        let mut queue = self.queue.lock();
        // Seen under the mutex: what ends later is taken out again.
        if self.stopped.load(Ordering::Relaxed) || !hold.is_live() {
            return;
        }
        queue.put(Arc::clone(hold), BootInstant::now());
        drop(queue);
        self.changed.notify_one();
    }

    /// Looks at a hold again at `due`, unless it has ended meanwhile.
    fn again(&self, hold: Arc<Hold>, due: BootInstant) {
        let mut queue = self.queue.lock();
        if self.stopped.load(Ordering::Relaxed) {
            // The shutdown has emptied the queue while this hold was not in it.
            drop(queue);
            self.lose(&hold, LossReason::Shutdown);
        } else if !hold.is_released() {
            // A lost hold, too: the gate does not know of the loss yet.
            queue.put(hold, due);
        }
    }

    /// Ends the task and every hold, and gives the holds back.
    pub(super) fn stop(&self, reason: LossReason) {
        let holds = {
            let mut queue = self.queue.lock();
            self.stopped.store(true, Ordering::Relaxed);
            queue.drain()
        };
        self.changed.notify_one();
        for hold in holds {
            self.lose(&hold, reason);
        }
    }

    /// Ends a hold as lost, and lets the local tasks behind it ask for themselves. One that the server
    /// still has goes back: at a shutdown at once, otherwise when its guard does or after the time that
    /// the holder of an expired one would have, so that the holder has stopped by then.
    fn lose(&self, hold: &Arc<Hold>, reason: LossReason) {
        if hold.lose(reason) {
            match reason {
                LossReason::Shutdown => self.releases.release(hold),
                LossReason::MaxHold => {
                    let (releases, hold) = (self.releases.clone(), Arc::clone(hold));
                    tasks::spawn(async move {
                        sleep(margin(hold.terms.lease)).await;
                        releases.release(&hold);
                    });
                }
                LossReason::Expired | LossReason::Removed => {}
            }
        }
        if let Some(on_loss) = self.on_loss.upgrade() {
            on_loss.lost(hold);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Takes out what is due now.
    fn due(&self, now: BootInstant) -> Vec<Arc<Hold>> {
        let mut queue = self.queue.lock();
        let due: Vec<_> = std::iter::from_fn(|| queue.pop_due(now)).collect();
        self.dispatching.store(!due.is_empty(), Ordering::Relaxed);
        due
    }

    /// What was due and is not over is in the queue again.
    fn dispatched(&self) {
        let _queue = self.queue.lock();
        self.dispatching.store(false, Ordering::Relaxed);
    }

    /// Whether there is nothing to renew.
    pub(super) fn is_idle(&self) -> bool {
        let queue = self.queue.lock();
        queue.next_due().is_none() && !self.dispatching.load(Ordering::Relaxed)
    }

    /// Until when the task may sleep, `latest` at most, and whether there is no hold now; `None` if there
    /// is none and the task has rested. Only a hold that is due earlier wakes it.
    pub(super) fn plan_sleep(
        &self,
        latest: BootInstant,
        rested: bool,
    ) -> (Option<BootInstant>, bool) {
        let queue = self.queue.lock();
        let next = queue.next_due();
        let wake_at = match next {
            None if rested => None,
            next => Some(next.map_or(latest, |due| due.min(latest))),
        };
        let until = wake_at.map_or(u64::MAX, BootInstant::as_nanos);
        self.sleeps_until.store(until, Ordering::Release);
        (wake_at, next.is_none())
    }
}

impl fmt::Debug for Renewals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewals").finish_non_exhaustive()
    }
}

/// A timer queue. A hold is in it at most once, from its grant to its end.
#[derive(Debug, Default)]
struct Queue {
    /// By time, and for one time by the hold's number, which it has alone among those of its client.
    by_due: BTreeMap<(u64, u64), Arc<Hold>>,
}

impl Queue {
    /// Puts a hold in, or moves it.
    fn put(&mut self, hold: Arc<Hold>, due: BootInstant) {
        self.take(&hold);
        let at = due.as_nanos().max(1);
        hold.renewal_due.store(at, Ordering::Relaxed);
        self.by_due.insert((at, hold.id.number()), hold);
    }

    /// Takes a hold out; whether it was in.
    fn take(&mut self, hold: &Hold) -> bool {
        let at = hold.renewal_due.swap(0, Ordering::Relaxed);
        at != 0 && self.by_due.remove(&(at, hold.id.number())).is_some()
    }

    /// Takes out the next hold that is due.
    fn pop_due(&mut self, now: BootInstant) -> Option<Arc<Hold>> {
        let first = self.by_due.first_entry()?;
        if first.key().0 > now.as_nanos() {
            return None;
        }
        let hold = first.remove();
        hold.renewal_due.store(0, Ordering::Relaxed);
        Some(hold)
    }

    fn next_due(&self) -> Option<BootInstant> {
        let ((at, _), _) = self.by_due.first_key_value()?;
        Some(BootInstant::from_nanos(*at))
    }

    fn drain(&mut self) -> Vec<Arc<Hold>> {
        let holds: Vec<_> = std::mem::take(&mut self.by_due).into_values().collect();
        for hold in &holds {
            hold.renewal_due.store(0, Ordering::Relaxed);
        }
        holds
    }
}

/// Renewals in one pipeline: enough to be cheap, few enough not to hold up other commands.
const BATCH: usize = 256;

/// How many pipelines are under way at once: enough to keep a server busy, few enough for each to be answered soon.
const AT_ONCE: usize = 8;

/// How soon a renewal is tried again at the earliest, however little of the lease is left: with many holds and a
/// server that does not answer, ever shorter pauses would keep a processor busy.
const RETRY: Duration = Duration::from_millis(10);

/// Sleeps are cut to this, because timers stand still while the machine is suspended.
const NAP: Duration = Duration::from_secs(1);

async fn run(renewals: Arc<Renewals>, store: Arc<Store>) {
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
        Ok(answer) if matches!(answer.reply, Reply::Done | Reply::Wanted) => {
            if let (Reply::Wanted, Some(lingering)) = (&answer.reply, hold.lingering()) {
                lingering.want();
            }
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
struct Sending {
    node: NodeId,
    connection: u64,
    holds: Vec<Arc<Hold>>,
}

impl Sending {
    /// Keeps the holds that have no renewal on this connection.
    fn begin(node: NodeId, connection: Option<u64>, mut holds: Vec<Arc<Hold>>) -> Self {
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

    fn node(&self) -> NodeId {
        self.node
    }

    /// A renewal has come to its end.
    fn arrived(&self, hold: &Hold) {
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
