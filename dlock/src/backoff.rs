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

    /// Between tries to connect. A client whose servers have to answer soon has short leases: it must not miss the time in
    /// which a server is back and its lease is not over.
    pub(crate) fn of_connect(response_timeout: Duration) -> Self {
        let first = Duration::from_millis(20);
        let longest = (response_timeout / 2).clamp(first, Duration::from_millis(500));
        Self::new(first, longest)
    }

    pub(crate) fn pause(&mut self) -> Duration {
        let pause = jitter(self.next);
        self.next = (self.next * 2).min(self.longest);
        pause
    }
}

/// Between half of `around` and all of it.
pub(crate) fn jitter(around: Duration) -> Duration {
    around.mul_f64(0.5 + random::f64() / 2.0)
}
