//! Measuring one acquire.

use std::sync::Arc;

use metrics::Histogram;

use super::LockMetrics;
use super::lock_metrics::ModeMetrics;
use crate::clock::BootInstant;
use crate::error::Error;
use crate::mode::Mode;

/// One acquire under way; counts as cancelled when dropped without an outcome.
#[must_use = "dropping it counts the acquire as cancelled"]
pub(crate) struct AcquireWatch {
    metrics: Arc<LockMetrics>,
    mode: Mode,
    began: BootInstant,
    done: bool,
}

impl AcquireWatch {
    pub(super) fn new(metrics: &Arc<LockMetrics>, mode: Mode) -> Self {
        metrics.of(mode).waiting.increment(1.0);
        Self {
            metrics: Arc::clone(metrics),
            mode,
            began: BootInstant::now(),
            done: false,
        }
    }

    pub(crate) fn acquired(self) {
        self.end(|mode| &mode.acquired);
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
    }

    fn end(mut self, histogram: impl Fn(&ModeMetrics) -> &Histogram) {
        self.done = true;
        histogram(self.metrics.of(self.mode)).record(BootInstant::now().since(self.began));
    }
}

impl Drop for AcquireWatch {
    fn drop(&mut self) {
        let mode = self.metrics.of(self.mode);
        mode.waiting.decrement(1.0);
        if !self.done {
            mode.cancelled.record(BootInstant::now().since(self.began));
        }
    }
}
