//! A process's clocks: they run at a rate of their own, and that of timers stands still while the machine is suspended.

use super::Nanos;

const MILLION: i128 = 1_000_000;

/// The two clocks of one process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// How much faster than the world's, in millionths.
    ppm: i32,
    /// How long the machine had been up when the simulation began.
    up: Nanos,
    /// How long it has been suspended, by the boot clock.
    suspended: Nanos,
}

impl Clock {
    pub(crate) fn new(ppm: i32, up: Nanos) -> Self {
        Self {
            ppm,
            up,
            suspended: 0,
        }
    }

    /// The boot clock.
    pub(crate) fn boot(&self, now: Nanos) -> Nanos {
        let passed = i128::from(now) * (MILLION + i128::from(self.ppm)) / MILLION;
        self.up + Nanos::try_from(passed).unwrap_or(0)
    }

    /// The clock of timers.
    pub(crate) fn instant(&self, now: Nanos) -> Nanos {
        self.boot(now) - self.suspended
    }

    /// When in the world the clock of timers shows this, unless the machine is suspended before.
    pub(crate) fn world(&self, instant: Nanos) -> Nanos {
        let passed = i128::from(instant) + i128::from(self.suspended) - i128::from(self.up);
        let rate = MILLION + i128::from(self.ppm);
        let at = (passed.max(0) * MILLION + rate - 1) / rate;
        Nanos::try_from(at).unwrap_or(Nanos::MAX)
    }

    /// The machine was suspended from then until now.
    pub(crate) fn was_suspended(&mut self, from: Nanos, now: Nanos) {
        self.suspended += self.boot(now) - self.boot(from);
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn a_timer_is_never_early() {
        for ppm in [-5000, -1, 0, 1, 4999] {
            let mut clock = Clock::new(ppm, 12_345);
            clock.was_suspended(100, 5_000_100);
            for at in [6_000_000, 6_000_001, 1_234_567_891_011] {
                let world = clock.world(at);
                assert!(clock.instant(world) >= at, "{ppm} {at}");
                assert!(clock.instant(world - 2) < at, "{ppm} {at}");
            }
        }
    }
}
