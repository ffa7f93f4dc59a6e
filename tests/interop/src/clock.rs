//! The clock that all processes of this machine and all languages share.

use std::{fmt, num::ParseIntError, str::FromStr, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// A moment of `CLOCK_MONOTONIC`: Python's `time.monotonic_ns()`, Node's `process.hrtime.bigint()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(Duration);

impl Moment {
    pub(crate) fn now() -> Self {
        let now = clock_gettime(ClockId::Monotonic);
        Self(now.try_into().expect("the clock began in the past"))
    }

    #[cfg(test)]
    pub(crate) const fn at_ms(ms: u64) -> Self {
        Self(Duration::from_millis(ms))
    }

    pub(crate) fn after(self, time: Duration) -> Self {
        Self(self.0 + time)
    }

    pub(crate) fn before(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(time))
    }

    /// The time since `earlier`; zero if `earlier` is later.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// In nanoseconds, as processes report it.
impl FromStr for Moment {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Duration::from_nanos).map(Self)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_nanos().fmt(f)
    }
}
