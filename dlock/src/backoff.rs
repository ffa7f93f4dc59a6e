//! Growing, jittered pauses.

use std::time::Duration;

use crate::random;

/// Pauses that double from `first` to `longest`, each somewhere between half and all of it: clients that
/// failed together do not come back together.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Self {
            next: first,
            longest,
        }
    }

    /// Between the tries of one request.
    pub(crate) fn of_request() -> Self {
        Self::new(Duration::from_millis(10), Duration::from_millis(200))
    }

    /// Between tries to connect.
    pub(crate) fn of_connect() -> Self {
        Self::new(Duration::from_millis(20), Duration::from_millis(500))
    }

    pub(crate) fn pause(&mut self) -> Duration {
        self.pause_of_at_most(self.longest)
    }

    pub(crate) fn pause_of_at_most(&mut self, longest: Duration) -> Duration {
        let pause = jitter(self.next.min(longest));
        self.next = (self.next * 2).min(self.longest);
        pause
    }
}

/// Between half of `around` and all of it.
pub(crate) fn jitter(around: Duration) -> Duration {
    around.mul_f64(0.5 + random::f64() / 2.0)
}
