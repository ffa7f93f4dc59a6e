//! Measuring one acquire.

use metrics::Histogram;

use super::LockMetrics;
use super::lock_metrics::ModeMetrics;
use crate::clock::BootInstant;
use crate::error::Error;
use crate::mode::Mode;

/// One acquire under way; counts as cancelled when dropped without an outcome.
#[must_use = "dropping it counts the acquire as cancelled"]
pub(crate) struct AcquireWatch<'a> {
    metrics: &'a LockMetrics,
    mode: Mode,
    began: BootInstant,
    done: bool,
}

impl<'a> AcquireWatch<'a> {
    pub(super) fn new(metrics: &'a LockMetrics, mode: Mode) -> Self {
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
