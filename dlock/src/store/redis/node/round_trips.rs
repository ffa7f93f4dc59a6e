//! How long requests take, and how many may be under way for it.

use std::time::Duration;

use crate::clock::Instant;

const MILLISECOND: u64 = 1_000_000;

/// How many requests may be under way: at first, at the least, and at the most.
const FIRST: f64 = 32.0;
const LEAST: f64 = 4.0;
const MOST: f64 = 4096.0;

/// By how much the number grows in a round trip in which all were needed, and what is left of it after a slow one.
const GROWTH: f64 = 16.0;
const CUT: f64 = 0.5;

/// A round trip is slow that takes this long, and this many times what the quickest took.
const SLOW: u64 = 20 * MILLISECOND;
const TIMES: u64 = 4;

/// How far away a server may be: longer round trips are long because the server is slow, even if none was quicker yet. A client
/// that starts together with very many others has seen no other ones.
const FARTHEST: u64 = 100 * MILLISECOND;

/// For how long the quickest is remembered, at the least: the way to a server may become longer.
const MEMORY: u64 = 30_000 * MILLISECOND;

/// How much of an excess is remembered, and for how many times as long it takes to be forgotten: 15 seconds at the most. If
/// clients forgot at once that they had been too many, all would pause for longer and shorter in turns, and be too many each
/// time that their pauses are short.
const LASTING: u64 = 30 * MILLISECOND;
const FADES: u64 = 500;

/// What the round trips to one server were like. Times are in nanoseconds, points in time since `born`: every answer
/// is counted here, and arithmetic with `Duration`s takes several times as long.
#[derive(Debug)]
pub(super) struct RoundTrips {
    limit: f64,
    born: Instant,
    /// The quickest one in this span of time, and in the one before.
    quickest: [u64; 2],
    span_began: Option<u64>,
    smoothed: u64,
    /// The excess that is remembered, and since when.
    lasting: (u64, u64),
    cut_at: Option<u64>,
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self {
            limit: FIRST,
            born: Instant::now(),
            quickest: [u64::MAX; 2],
            span_began: None,
            smoothed: 0,
            lasting: (0, 0),
            cut_at: None,
        }
    }
}

impl RoundTrips {
    /// How many requests may be under way.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between LEAST and MOST"
    )]
    pub(super) fn limit(&self) -> usize {
        self.limit as usize
    }

    /// One took so long; whether all that may be under way were.
    pub(super) fn took(&mut self, round_trip: Duration, now: Instant, all: bool) {
        let (round_trip, now) = (nanos(round_trip), self.at(now));
        if self
            .span_began
            .is_none_or(|began| now.saturating_sub(began) > MEMORY)
        {
            self.span_began = Some(now);
            self.quickest = [u64::MAX, self.quickest[0]];
        }
        self.quickest[0] = self.quickest[0].min(round_trip);
        self.learn(round_trip, now, all);
    }

    /// A request was waited for in vain for so long, which does not say how quick the server can be.
    pub(super) fn waited(&mut self, round_trip: Duration, now: Instant, all: bool) {
        self.learn(nanos(round_trip), self.at(now), all);
    }

    fn learn(&mut self, round_trip: u64, now: u64, all: bool) {
        self.smoothed = (self.smoothed * 7 + round_trip) / 8;
        self.lasting = (self.excess_at(now).min(LASTING), now);
        if self.is_slow(round_trip) {
            self.cut(round_trip, now);
        } else if all {
            self.limit = (self.limit + GROWTH / self.limit).min(MOST);
        }
    }

    fn is_slow(&self, round_trip: u64) -> bool {
        round_trip >= SLOW && round_trip / TIMES >= self.quickest()
    }

    /// Once for all those that were under way together.
    fn cut(&mut self, round_trip: u64, now: u64) {
        if self
            .cut_at
            .is_none_or(|cut| now.saturating_sub(cut) > round_trip)
        {
            self.cut_at = Some(now);
            self.limit = (self.limit * CUT).max(LEAST);
        }
    }

    /// Begins anew, with as few as possible.
    pub(super) fn begin(&mut self) {
        self.limit = LEAST;
    }

    fn quickest(&self) -> u64 {
        self.quickest[0].min(self.quickest[1]).min(FARTHEST)
    }

    /// How much longer they take than they have to, now or a short time ago.
    pub(super) fn excess(&self, now: Instant) -> Duration {
        Duration::from_nanos(self.excess_at(self.at(now)))
    }

    fn excess_at(&self, now: u64) -> u64 {
        let (lasting, since) = self.lasting;
        let lasting = lasting.saturating_sub(now.saturating_sub(since) / FADES);
        lasting.max(self.smoothed.saturating_sub(self.quickest()))
    }

    fn at(&self, now: Instant) -> u64 {
        nanos(now - self.born)
    }
}

/// Enough for 584 years.
fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::RoundTrips;
    use crate::clock::Instant;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_server_that_slows_down_gets_less_and_one_that_is_far_away_does_not() {
        let mut now = Instant::now();
        let (mut near, mut far) = (RoundTrips::default(), RoundTrips::default());
        for _ in 0..1000 {
            now += MS;
            near.took(MS, now, false);
            far.took(50 * MS, now, false);
        }
        assert_eq!((near.limit(), far.limit()), (32, 32), "all were not needed");
        for _ in 0..1000 {
            // Requests whose callers left before the answers came.
            far.waited(3 * MS, now, false);
        }
        for _ in 0..10_000 {
            now += MS;
            near.took(100 * MS, now, true);
            far.took(100 * MS, now, true);
        }
        assert!(near.limit() < 8, "{near:?}");
        assert!(far.limit() > 400, "{far:?}");
        for _ in 0..10_000 {
            now += MS;
            near.took(MS, now, true);
        }
        assert!(near.limit() > 400, "{near:?}");
    }

    #[test]
    fn those_that_were_under_way_together_cut_once() {
        let (mut trips, now) = (RoundTrips::default(), Instant::now());
        trips.took(MS, now, true);
        for _ in 0..32 {
            trips.took(500 * MS, now + 500 * MS, true);
        }
        assert_eq!(trips.limit(), 16, "{trips:?}");
        assert!(trips.excess(now) > 300 * MS, "{trips:?}");
    }
}
