//! Registering holds for renewal and ending them; holds by when they need attention.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use super::task;
use crate::clock::{BootInstant, sleep};
use crate::error::LossReason;
use crate::hold::release::Releases;
use crate::hold::{Hold, OnLoss};
use crate::lease::margin;
use crate::store::Store;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::tasks::{self, Place};

/// All holds of a client, renewed by one task.
pub(in crate::hold) struct Renewals {
    queue: Mutex<Queue>,
    /// Boot clock, ns: until when the task sleeps. A hold that is due later need not wake it.
    sleeps_until: AtomicU64,
    pub(in crate::hold) changed: Notify,
    stopped: AtomicBool,
    /// Whether holds have been taken out of the queue that are still to be put back.
    dispatching: AtomicBool,
    on_loss: Weak<dyn OnLoss>,
    releases: Releases,
    pub(super) response_timeout: Duration,
}

impl Renewals {
    pub(in crate::hold) fn start(
        on_loss: Weak<dyn OnLoss>,
        store: Arc<Store>,
        releases: Releases,
        response_timeout: Duration,
    ) -> Arc<Self> {
        let renewals = Arc::new(Self::new(on_loss, releases, response_timeout));
        Place::own().spawn(task::run(Arc::clone(&renewals), store));
        renewals
    }

    pub(in crate::hold) fn new(
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
    pub(in crate::hold) fn add(&self, hold: &Arc<Hold>) -> bool {
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
    pub(in crate::hold) fn remove(&self, hold: &Hold) {
        self.queue.lock().take(hold);
    }

    /// Looks at a hold again at `due`, unless it has ended meanwhile.
    pub(super) fn again(&self, hold: Arc<Hold>, due: BootInstant) {
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
    pub(in crate::hold) fn stop(&self, reason: LossReason) {
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
    pub(super) fn lose(&self, hold: &Arc<Hold>, reason: LossReason) {
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

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Takes out what is due now.
    pub(super) fn due(&self, now: BootInstant) -> Vec<Arc<Hold>> {
        let mut queue = self.queue.lock();
        let due: Vec<_> = std::iter::from_fn(|| queue.pop_due(now)).collect();
        self.dispatching.store(!due.is_empty(), Ordering::Relaxed);
        due
    }

    /// What was due and is not over is in the queue again.
    pub(super) fn dispatched(&self) {
        let _queue = self.queue.lock();
        self.dispatching.store(false, Ordering::Relaxed);
    }

    /// Whether there is nothing to renew.
    pub(in crate::hold) fn is_idle(&self) -> bool {
        let queue = self.queue.lock();
        queue.next_due().is_none() && !self.dispatching.load(Ordering::Relaxed)
    }

    /// Until when the task may sleep, `latest` at most, and whether there is no hold now; `None` if there
    /// is none and the task has rested. Only a hold that is due earlier wakes it.
    pub(in crate::hold) fn plan_sleep(
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
pub(super) struct Queue {
    /// By time, and for one time by the hold's number, which it has alone among those of its client.
    by_due: BTreeMap<(u64, u64), Arc<Hold>>,
}

impl Queue {
    /// Puts a hold in, or moves it.
    pub(super) fn put(&mut self, hold: Arc<Hold>, due: BootInstant) {
        self.take(&hold);
        let at = due.as_nanos().max(1);
        hold.renewal_due.store(at, Ordering::Relaxed);
        self.by_due.insert((at, hold.id.number()), hold);
    }

    /// Takes a hold out; whether it was in.
    pub(super) fn take(&mut self, hold: &Hold) -> bool {
        let at = hold.renewal_due.swap(0, Ordering::Relaxed);
        at != 0 && self.by_due.remove(&(at, hold.id.number())).is_some()
    }

    /// Takes out the next hold that is due.
    pub(super) fn pop_due(&mut self, now: BootInstant) -> Option<Arc<Hold>> {
        let first = self.by_due.first_entry()?;
        if first.key().0 > now.as_nanos() {
            return None;
        }
        let hold = first.remove();
        hold.renewal_due.store(0, Ordering::Relaxed);
        Some(hold)
    }

    pub(super) fn next_due(&self) -> Option<BootInstant> {
        let ((at, _), _) = self.by_due.first_key_value()?;
        Some(BootInstant::from_nanos(*at))
    }

    pub(super) fn drain(&mut self) -> Vec<Arc<Hold>> {
        let holds: Vec<_> = std::mem::take(&mut self.by_due).into_values().collect();
        for hold in &holds {
            hold.renewal_due.store(0, Ordering::Relaxed);
        }
        holds
    }
}
