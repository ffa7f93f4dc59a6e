//! What a server's clock shows, as far as its answers tell.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::BootInstant;

/// In what steps, in µs, the latest time of validity is noted: so a busy client seldom has to write it.
const STEP: u64 = 100_000;

/// Stands for a server that has not told its time yet.
const UNKNOWN: i64 = i64::MIN;

/// An estimate of one server's clock. Safety does not depend on it: a request with too short a validity is refused
/// with the right time, and one with too long a validity gets a tombstone for as long when it is given up.
#[derive(Debug)]
pub(crate) struct ServerTime {
    /// How far the server's clock is ahead of ours (time since boot), in µs; rather too little than too much.
    ahead: AtomicI64,
    /// A time until which no request has been valid for longer there, in µs of the server.
    latest: AtomicU64,
}

impl ServerTime {
    pub(super) fn new() -> Self {
        Self {
            ahead: AtomicI64::new(UNKNOWN),
            latest: AtomicU64::new(0),
        }
    }

    /// The server's clock showed this before `received`.
    pub(crate) fn learn(&self, micros: u64, received: BootInstant) {
        let ahead = signed(micros) - signed(received.as_nanos() / 1000);
        self.ahead.store(ahead, Ordering::Relaxed);
    }

    /// A request that left at `sent` was answered with this token, which is not smaller than the server's time then:
    /// shows when its clock has been set back.
    pub(crate) fn bound(&self, token: u64, sent: BootInstant) {
        let most = signed(token) - signed(sent.as_nanos() / 1000);
        if self.ahead.load(Ordering::Relaxed) > most {
            self.ahead.store(most, Ordering::Relaxed);
        }
    }

    /// Until when a request that leaves now has an effect: 0, which is never, while the server's time is unknown.
    pub(crate) fn valid_until(&self, now: BootInstant, validity: Duration) -> u64 {
        let ahead = self.ahead.load(Ordering::Relaxed);
        if ahead == UNKNOWN {
            return 0;
        }
        let validity = i64::try_from(validity.as_micros()).unwrap_or(i64::MAX);
        let until = signed(now.as_nanos() / 1000)
            .saturating_add(ahead)
            .saturating_add(validity);
        let until = u64::try_from(until).unwrap_or(0);
        if self.latest.load(Ordering::Relaxed) < until {
            let latest = until.saturating_add(STEP);
            self.latest.fetch_max(latest, Ordering::Relaxed);
        }
        until
    }

    /// Until when some request may still have an effect.
    pub(crate) fn latest_valid(&self) -> u64 {
        self.latest.load(Ordering::Relaxed)
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ServerTime;
    use crate::clock::BootInstant;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(seconds: u64) -> BootInstant {
        BootInstant::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn nothing_is_valid_before_the_time_is_known() {
        let time = ServerTime::new();
        assert_eq!(time.valid_until(at(5), SECOND), 0);
        time.bound(7_000_000, at(5));
        assert_eq!(time.valid_until(at(5), SECOND), 0);
        assert_eq!(time.latest_valid(), 0);
    }

    #[test]
    fn the_estimate_goes_on_with_our_clock() {
        let time = ServerTime::new();
        time.learn(1_000_000_000, at(5));
        assert_eq!(time.valid_until(at(7), SECOND), 1_003_000_000);
    }

    /// A tombstone of a request that was given up must not end before the request does.
    #[test]
    fn no_request_is_valid_for_longer_than_is_noted() {
        let time = ServerTime::new();
        time.learn(1_000_000_000, at(5));
        for millis in (0..1000).step_by(7) {
            let now = BootInstant::from_nanos(5_000_000_000 + millis * 1_000_000);
            let until = time.valid_until(now, SECOND);
            assert!(time.latest_valid() >= until, "after {millis} ms");
        }
    }

    #[test]
    fn a_token_shows_a_clock_that_was_set_back_but_what_was_sent_stays_valid() {
        let time = ServerTime::new();
        time.learn(1_000_000_000, at(5));
        let before = time.valid_until(at(5), SECOND);
        time.bound(900_000_000, at(5));
        assert_eq!(time.valid_until(at(5), SECOND), 901_000_000);
        time.bound(2_000_000_000, at(5));
        assert_eq!(time.valid_until(at(5), SECOND), 901_000_000);
        assert!(time.latest_valid() >= before);
    }
}
