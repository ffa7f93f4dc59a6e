//! The metrics of one lock label, looked up once.

use std::sync::Arc;
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, SharedString, counter, gauge, histogram};

use super::{AcquireWatch, names};
use crate::error::LossReason;
use crate::mode::Mode;

/// Handles for one label.
pub(crate) struct LockMetrics {
    read: ModeMetrics,
    write: ModeMetrics,
    lost: [(LossReason, Counter); 4],
    renewals: [(&'static str, Counter); 3],
    local_handovers: Counter,
    wakeups: [(&'static str, Counter); 2],
}

/// Handles for one label and mode.
pub(crate) struct ModeMetrics {
    pub(super) acquired: Histogram,
    pub(super) busy: Histogram,
    pub(super) timeout: Histogram,
    pub(super) error: Histogram,
    pub(super) cancelled: Histogram,
    pub(super) waiting: Gauge,
    pub(super) contended: Counter,
    hold: Histogram,
    held: Gauge,
}

impl ModeMetrics {
    fn new(lock: &SharedString, mode: Mode) -> Self {
        let mode = mode.as_str();
        let wait = |outcome: &'static str| {
            histogram!(names::ACQUIRE_WAIT,
                "lock" => lock.clone(), "mode" => mode, "outcome" => outcome)
        };
        Self {
            acquired: wait("acquired"),
            busy: wait("busy"),
            timeout: wait("timeout"),
            error: wait("error"),
            cancelled: wait("cancelled"),
            waiting: gauge!(names::WAITING, "lock" => lock.clone(), "mode" => mode),
            contended: counter!(names::CONTENDED, "lock" => lock.clone(), "mode" => mode),
            hold: histogram!(names::HOLD, "lock" => lock.clone(), "mode" => mode),
            held: gauge!(names::HELD, "lock" => lock.clone(), "mode" => mode),
        }
    }
}

impl LockMetrics {
    pub(super) fn new(lock: &SharedString) -> Self {
        use LossReason::{Expired, MaxHold, Removed, Shutdown};
        let metrics = Self {
            read: ModeMetrics::new(lock, Mode::Read),
            write: ModeMetrics::new(lock, Mode::Write),
            lost: [Expired, Removed, MaxHold, Shutdown].map(|reason| {
                let counter =
                    counter!(names::LOST, "lock" => lock.clone(), "reason" => reason.as_str());
                (reason, counter)
            }),
            renewals: ["renewed", "lost", "unknown"].map(|outcome| {
                let counter =
                    counter!(names::RENEWALS, "lock" => lock.clone(), "outcome" => outcome);
                (outcome, counter)
            }),
            local_handovers: counter!(names::LOCAL_HANDOVERS, "lock" => lock.clone()),
            wakeups: ["message", "timer"].map(|source| {
                let counter = counter!(names::WAKEUPS, "lock" => lock.clone(), "source" => source);
                (source, counter)
            }),
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
            .chain([&self.local_handovers]);
        for counter in counters {
            counter.increment(0);
        }
    }

    pub(super) fn of(&self, mode: Mode) -> &ModeMetrics {
        match mode {
            Mode::Read => &self.read,
            Mode::Write => &self.write,
        }
    }

    /// An acquire begins; tell the watch how it ends.
    pub(crate) fn acquire_began(self: &Arc<Self>, mode: Mode) -> AcquireWatch {
        AcquireWatch::new(self, mode)
    }

    pub(crate) fn contended(&self, mode: Mode) {
        self.of(mode).contended.increment(1);
    }

    pub(crate) fn hold_began(&self, mode: Mode) {
        self.of(mode).held.increment(1.0);
    }

    pub(crate) fn hold_ended(&self, mode: Mode, after: Duration) {
        self.of(mode).held.decrement(1.0);
        self.of(mode).hold.record(after);
    }

    pub(crate) fn lost(&self, reason: LossReason) {
        count(&self.lost, &reason);
    }

    pub(crate) fn renewal(&self, outcome: &'static str) {
        count(&self.renewals, &outcome);
    }

    pub(crate) fn woken(&self, source: &'static str) {
        count(&self.wakeups, &source);
    }

    pub(crate) fn handed_over(&self) {
        self.local_handovers.increment(1);
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
