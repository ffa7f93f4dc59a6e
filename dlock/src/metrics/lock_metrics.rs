//! The metrics of one lock label, and the measuring of one acquire.

use std::sync::LazyLock;
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, SharedString, counter, gauge, histogram};

use super::names;
use crate::clock::BootInstant;
use crate::error::{Error, LossReason};
use crate::kind::{LockKind, LockMode};

/// A histogram that exists from its first value on: an exporter shows about twenty series of each.
type LazyHistogram = LazyLock<Histogram, Box<dyn FnOnce() -> Histogram + Send>>;

fn on_use(make: impl FnOnce() -> Histogram + Send + 'static) -> LazyHistogram {
    LazyLock::new(Box::new(make))
}

/// A counter that exists from its first use on, because few locks have what it counts.
type LazyCounter = LazyLock<Counter, Box<dyn FnOnce() -> Counter + Send>>;

/// Handles for one label and kind of lock.
pub(crate) struct LockMetrics {
    /// Whether a recorder is installed: without one, the clock is not read.
    on: bool,
    read: ModeMetrics,
    write: ModeMetrics,
    lost: [(LossReason, Counter); 4],
    ended_late: Counter,
    renewals: [(&'static str, Counter); 3],
    renewal_slack: LazyHistogram,
    local_handovers: Counter,
    handover: [(Via, LazyHistogram); 2],
    wakeups: [(&'static str, Counter); 2],
    /// How holds that linger are used, asked for and given back.
    reused: LazyCounter,
    revoked: LazyCounter,
    gave_back: LazyHistogram,
}

/// How a lock went from hand to hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    /// Inside the process.
    Process,
    /// Through the server.
    Server,
}

/// Handles for one label and mode.
pub(crate) struct ModeMetrics {
    pub(super) acquired: LazyHistogram,
    pub(super) busy: LazyHistogram,
    pub(super) timeout: LazyHistogram,
    pub(super) error: LazyHistogram,
    pub(super) cancelled: LazyHistogram,
    pub(super) waiting: Gauge,
    pub(super) contended: Counter,
    hold: LazyHistogram,
    held: Gauge,
}

impl ModeMetrics {
    fn new(lock: &SharedString, kind: &'static str, mode: LockMode) -> Self {
        let mode = mode.as_str();
        let wait = |outcome: &'static str| {
            let lock = lock.clone();
            on_use(move || {
                histogram!(names::ACQUIRE_WAIT,
                    "lock" => lock, "kind" => kind, "mode" => mode, "outcome" => outcome)
            })
        };
        let held_for = lock.clone();
        Self {
            acquired: wait("acquired"),
            busy: wait("busy"),
            timeout: wait("timeout"),
            error: wait("error"),
            cancelled: wait("cancelled"),
            waiting: gauge!(names::WAITING, "lock" => lock.clone(), "kind" => kind, "mode" => mode),
            contended: counter!(names::CONTENDED, "lock" => lock.clone(), "kind" => kind, "mode" => mode),
            hold: on_use(
                move || histogram!(names::HOLD, "lock" => held_for, "kind" => kind, "mode" => mode),
            ),
            held: gauge!(names::HELD, "lock" => lock.clone(), "kind" => kind, "mode" => mode),
        }
    }
}

impl LockMetrics {
    pub(super) fn new(lock: &SharedString, kind: LockKind, on: bool) -> Self {
        use LossReason::{Expired, MaxHold, Removed, Shutdown};
        let kind = kind.as_str();
        let handover = |via, text: &'static str| {
            let lock = lock.clone();
            let histogram =
                move || histogram!(names::HANDOVER, "lock" => lock, "kind" => kind, "via" => text);
            (via, on_use(histogram))
        };
        let renewed = lock.clone();
        let counter_on_use = |name: &'static str| -> LazyCounter {
            let lock = lock.clone();
            LazyLock::new(Box::new(
                move || counter!(name, "lock" => lock, "kind" => kind),
            ))
        };
        let gave_back = lock.clone();
        let metrics = Self {
            on,
            read: ModeMetrics::new(lock, kind, LockMode::Read),
            write: ModeMetrics::new(lock, kind, LockMode::Write),
            lost: [Expired, Removed, MaxHold, Shutdown].map(|reason| {
                let counter =
                    counter!(names::LOST, "lock" => lock.clone(), "kind" => kind, "reason" => reason.as_str());
                (reason, counter)
            }),
            ended_late: counter!(names::ENDED_LATE, "lock" => lock.clone(), "kind" => kind),
            renewals: ["renewed", "lost", "unknown"].map(|outcome| {
                let counter =
                    counter!(names::RENEWALS, "lock" => lock.clone(), "kind" => kind, "outcome" => outcome);
                (outcome, counter)
            }),
            renewal_slack: on_use(move || histogram!(names::RENEWAL_SLACK, "lock" => renewed, "kind" => kind)),
            handover: [
                handover(Via::Process, "process"),
                handover(Via::Server, "server"),
            ],
            local_handovers: counter!(names::LOCAL_HANDOVERS, "lock" => lock.clone(), "kind" => kind),
            wakeups: ["message", "timer"].map(|source| {
                let counter = counter!(names::WAKEUPS, "lock" => lock.clone(), "kind" => kind, "source" => source);
                (source, counter)
            }),
            reused: counter_on_use(names::LINGER_REUSES),
            revoked: counter_on_use(names::LINGER_REVOKES),
            gave_back: on_use(move || histogram!(names::LINGER_GIVE_BACK, "lock" => gave_back, "kind" => kind)),
        };
        metrics.appear();
        metrics
    }

    /// Shows the counters and gauges at zero before anything happens.
    fn appear(&self) {
        for mode in [&self.read, &self.write] {
            mode.waiting.increment(0.0);
            mode.held.increment(0.0);
            mode.contended.increment(0);
        }
        let counters = (self.lost.iter().map(|(_, counter)| counter))
            .chain(self.renewals.iter().map(|(_, counter)| counter))
            .chain(self.wakeups.iter().map(|(_, counter)| counter))
            .chain([&self.local_handovers, &self.ended_late]);
        for counter in counters {
            counter.increment(0);
        }
    }

    pub(super) fn of(&self, mode: LockMode) -> &ModeMetrics {
        match mode {
            LockMode::Read => &self.read,
            LockMode::Write => &self.write,
        }
    }

    /// An acquire begins; tell the watch how it ends.
    pub(crate) fn acquire_began(&self, mode: LockMode) -> AcquireWatch<'_> {
        AcquireWatch::new(self, mode)
    }

    pub(crate) fn contended(&self, mode: LockMode) {
        self.of(mode).contended.increment(1);
    }

    /// The time, if a recorder is installed.
    pub(crate) fn now(&self) -> BootInstant {
        if self.on {
            BootInstant::now()
        } else {
            BootInstant::from_nanos(0)
        }
    }

    pub(crate) fn hold_began(&self, mode: LockMode) {
        self.of(mode).held.increment(1.0);
    }

    pub(crate) fn hold_ended(&self, mode: LockMode, since: BootInstant) {
        self.of(mode).held.decrement(1.0);
        self.of(mode).hold.record(self.now().since(since));
    }

    pub(crate) fn lost(&self, reason: LossReason) {
        count(&self.lost, &reason);
    }

    /// A body ended of itself when its lock was lost already.
    pub(crate) fn ended_late(&self) {
        self.ended_late.increment(1);
    }

    pub(crate) fn renewal(&self, outcome: &'static str) {
        count(&self.renewals, &outcome);
    }

    /// A renewal was acknowledged while the lease still had until `deadline`.
    pub(crate) fn renewed_before(&self, deadline: BootInstant, lease: Duration) {
        let left = deadline.since(self.now());
        self.renewal_slack.record(left.div_duration_f64(lease));
    }

    pub(crate) fn woken(&self, source: &'static str) {
        count(&self.wakeups, &source);
    }

    pub(crate) fn passed_on(&self) {
        self.local_handovers.increment(1);
    }

    /// A task got a hold that its process had kept.
    pub(crate) fn reused(&self) {
        self.reused.increment(1);
    }

    /// Other clients asked for a hold that the process may keep.
    pub(crate) fn revoked(&self) {
        self.revoked.increment(1);
    }

    /// The server knows that the hold is free, for which other clients asked at that time.
    pub(crate) fn gave_back(&self, asked: BootInstant) {
        self.gave_back.record(self.now().since(asked));
    }

    /// The lock went on to the next one; `free_since` is when this side knew that it could.
    pub(crate) fn handed_over(&self, via: Via, free_since: BootInstant) {
        if let Some((_, histogram)) = self.handover.iter().find(|(v, _)| *v == via) {
            histogram.record(self.now().since(free_since));
        }
    }
}

fn count<K: PartialEq>(counters: &[(K, Counter)], key: &K) {
    if let Some((_, counter)) = counters.iter().find(|(k, _)| k == key) {
        counter.increment(1);
    }
}

impl std::fmt::Debug for LockMetrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LockMetrics").finish_non_exhaustive()
    }
}

/// One acquire under way; counts as cancelled when dropped without an outcome.
#[must_use = "dropping it counts the acquire as cancelled"]
pub(crate) struct AcquireWatch<'a> {
    metrics: &'a LockMetrics,
    mode: LockMode,
    began: BootInstant,
    done: bool,
}

impl<'a> AcquireWatch<'a> {
    pub(super) fn new(metrics: &'a LockMetrics, mode: LockMode) -> Self {
        metrics.of(mode).waiting.increment(1.0);
        Self {
            metrics,
            mode,
            began: metrics.now(),
            done: false,
        }
    }

    /// When that was.
    pub(crate) fn acquired(self) -> BootInstant {
        self.end(|mode| &mode.acquired)
    }

    pub(crate) fn busy(self) {
        self.end(|mode| &mode.busy);
    }

    pub(crate) fn failed(self, error: &Error) {
        if error.is_timeout() {
            self.end(|mode| &mode.timeout);
        } else {
            self.end(|mode| &mode.error);
        }
        super::failed(error);
    }

    fn end(mut self, histogram: impl Fn(&ModeMetrics) -> &Histogram) -> BootInstant {
        self.done = true;
        let now = self.metrics.now();
        histogram(self.metrics.of(self.mode)).record(now.since(self.began));
        now
    }
}

impl Drop for AcquireWatch<'_> {
    fn drop(&mut self) {
        let mode = self.metrics.of(self.mode);
        mode.waiting.decrement(1.0);
        if !self.done {
            mode.cancelled.record(self.metrics.now().since(self.began));
        }
    }
}
