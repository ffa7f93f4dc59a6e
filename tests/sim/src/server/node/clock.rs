//! A server's clock.

use std::time::Duration;

/// Shows a time of its own, at a rate of its own.
#[derive(Debug, Clone)]
pub(in super::super) struct NodeClock {
    /// The virtual time at which it was last set, and what it showed then, in µs.
    set_at: Duration,
    showed: i128,
    ppm: i32,
}

impl NodeClock {
    pub(in super::super) fn new(micros: u64) -> Self {
        Self {
            set_at: Duration::ZERO,
            showed: micros.into(),
            ppm: 0,
        }
    }

    /// Microseconds since 1970, as this clock sees it.
    pub(in super::super) fn micros(&self, now: Duration) -> u64 {
        u64::try_from(self.shows(now)).unwrap_or(0)
    }

    pub(in super::super) fn step(&mut self, now: Duration, micros: i64) {
        self.showed = self.shows(now) + i128::from(micros);
        self.set_at = now;
    }

    pub(in super::super) fn set_rate(&mut self, now: Duration, ppm: i32) {
        self.showed = self.shows(now);
        self.set_at = now;
        self.ppm = ppm;
    }

    fn shows(&self, now: Duration) -> i128 {
        let passed = i128::try_from(now.saturating_sub(self.set_at).as_micros()).unwrap_or(0);
        self.showed + passed + passed * i128::from(self.ppm) / 1_000_000
    }
}
