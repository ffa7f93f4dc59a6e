//! Both clocks, so that a test can replace them here: the boot clock, on which leases are measured, monotonic and counting
//! the time the machine sleeps; and Tokio's, for timers.

use std::time::Duration;

#[cfg(dlock_sim)]
pub(crate) use crate::sim::{Instant, sleep, sleep_until, timeout, timeout_at};
#[cfg(not(dlock_sim))]
pub(crate) use tokio::time::Instant;

#[cfg(not(dlock_sim))]
pub(crate) use self::timers::{sleep, sleep_until, timeout, timeout_at};

/// Tokio's timers, also where there is no runtime.
#[cfg(not(dlock_sim))]
mod timers {
    use std::time::Duration;

    use tokio::time::{self, Instant, Sleep, Timeout};

    use crate::background::within;

    pub(crate) fn sleep(length: Duration) -> Sleep {
        within(|| time::sleep(length))
    }

    pub(crate) fn sleep_until(until: Instant) -> Sleep {
        within(|| time::sleep_until(until))
    }

    pub(crate) fn timeout<F: Future>(length: Duration, future: F) -> Timeout<F> {
        within(|| time::timeout(length, future))
    }

    pub(crate) fn timeout_at<F: Future>(until: Instant, future: F) -> Timeout<F> {
        within(|| time::timeout_at(until, future))
    }
}

/// A point on the boot clock, in nanoseconds.
///
/// On Linux and Android this is `CLOCK_BOOTTIME`; elsewhere `CLOCK_MONOTONIC`, which some systems stop
/// during suspend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BootInstant(u64);

impl BootInstant {
    /// Now.
    #[cfg(dlock_sim)]
    #[must_use]
    pub fn now() -> Self {
        Self(0) + crate::sim::boot()
    }

    /// Now.
    #[cfg(not(dlock_sim))]
    #[must_use]
    pub fn now() -> Self {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
        let time = rustix::time::clock_gettime(CLOCK);
        // Both parts are never negative on a clock that starts at boot.
        Self(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
    }

    pub(crate) fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    pub(crate) fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to here; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl std::ops::Add<Duration> for BootInstant {
    type Output = Self;

    fn add(self, by: Duration) -> Self {
        Self(
            self.0
                .saturating_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX)),
        )
    }
}
