//! The clock that all processes of this machine and all languages share.

use std::{fmt, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// A moment, in nanoseconds of `CLOCK_MONOTONIC`: Python's `time.monotonic_ns()`, Node's `process.hrtime.bigint()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(u64);

impl Moment {
    pub(crate) fn now() -> Self {
        let now = clock_gettime(ClockId::Monotonic);
        let number = |value: i64| u64::try_from(value).expect("the clock began in the past");
        Self(number(now.tv_sec) * 1_000_000_000 + number(now.tv_nsec))
    }

    pub(crate) fn after(self, time: Duration) -> Self {
        Self(self.0 + u64::try_from(time.as_nanos()).expect("no centuries"))
    }

    pub(crate) fn before(self, time: Duration) -> Self {
        let time = u64::try_from(time.as_nanos()).expect("no centuries");
        Self(self.0.saturating_sub(time))
    }

    /// How long after `earlier` it is; zero if it is before.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
