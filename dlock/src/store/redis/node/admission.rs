//! The requests to one server that are under way, and the queue of those that wait.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::pace::Pace;
use super::round_trips::RoundTrips;
use crate::backoff::jitter;
use crate::clock::Instant;
use crate::store::redis::wire::ServerError;

/// For how long a request counts that may be sent and has not been. Its future may stand still.
pub(super) const CLAIM: Duration = Duration::from_millis(100);

/// What a budget knows.
#[derive(Default)]
pub(super) struct State {
    /// The numbers of the requests that are under way, in the order in which they were admitted, and until when they count. Servers
    /// answer in order, so requests leave at the front.
    pub(super) under_way: VecDeque<(u64, Instant)>,
    admitted: u64,
    /// The first time at which a request that is under way stops to count.
    earliest: Option<Instant>,
    /// The last one that was answered, and when.
    answered: Option<(u64, Instant)>,
    pub(super) waiting: VecDeque<Arc<Ticket>>,
    /// How many of those do not wait any more.
    pub(super) gone: usize,
    /// Present while the server refuses all requests.
    pub(super) refused: Option<Refused>,
    pub(super) round_trips: RoundTrips,
    pub(super) pace: Pace,
}

/// A request that waits for its permit.
pub(super) struct Ticket {
    pub(super) state: Mutex<Waiter>,
    pub(super) changed: Notify,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiter {
    Waits,
    /// May send. Counted as under way already.
    Admitted(u64),
    Gone,
}

impl State {
    pub(super) fn is_full(&self, now: Instant) -> bool {
        let limit = match &self.refused {
            Some(refused) => usize::from(refused.next_try <= now),
            None => self.round_trips.limit(),
        };
        self.under_way.len() >= limit
    }

    /// Whether another one may be under way.
    pub(super) fn has_room(&mut self, now: Instant) -> bool {
        if self.is_full(now) && self.earliest.is_some_and(|earliest| earliest <= now) {
            self.under_way.retain(|(_, until)| *until > now);
            self.earliest = self.under_way.iter().map(|(_, until)| *until).min();
        }
        !self.is_full(now)
    }

    /// Counts a request as under way, and numbers it.
    pub(super) fn count(&mut self, until: Instant) -> u64 {
        self.admitted += 1;
        self.under_way.push_back((self.admitted, until));
        self.note_end(until);
        self.admitted
    }

    /// Counts it for so long, also if it did not count any more.
    pub(super) fn count_as(&mut self, number: u64, until: Instant) {
        match self.position(number) {
            Ok(at) => self.under_way[at].1 = until,
            Err(at) => self.under_way.insert(at, (number, until)),
        }
        self.note_end(until);
    }

    fn note_end(&mut self, until: Instant) {
        self.earliest = Some(self.earliest.map_or(until, |earliest| earliest.min(until)));
    }

    /// A request is not under way any more.
    pub(super) fn leave(&mut self, number: u64, now: Instant) {
        if let Ok(at) = self.position(number) {
            self.under_way.remove(at);
        }
        self.admit(now);
    }

    /// Where a request stands among those that are under way, or would stand. Mostly it is the first.
    fn position(&self, number: u64) -> Result<usize, usize> {
        match self.under_way.front() {
            Some((first, _)) if *first == number => Ok(0),
            _ => self
                .under_way
                .binary_search_by_key(&number, |(number, _)| *number),
        }
    }

    /// Lets waiting requests be sent while there is room; whether there were any.
    pub(super) fn admit(&mut self, now: Instant) -> bool {
        let mut any = false;
        while !self.waiting.is_empty() && self.has_room(now) {
            let Some(first) = self.waiting.pop_front() else {
                break;
            };
            let mut waiter = first.state.lock();
            if *waiter == Waiter::Waits {
                *waiter = Waiter::Admitted(self.count(now + CLAIM));
                first.changed.notify_one();
                any = true;
            } else {
                self.gone -= 1;
            }
        }
        any
    }

    /// The server has answered a request, and those before it.
    pub(super) fn answered(&mut self, number: u64, now: Instant) {
        if self.answered.is_none_or(|(last, _)| last < number) {
            self.answered = Some((number, now));
            while self
                .under_way
                .front()
                .is_some_and(|(first, _)| *first < number)
            {
                self.under_way.pop_front();
            }
        }
    }

    /// When a request had an answer whose future is polled now.
    pub(super) fn answered_at(&self, number: u64, sent: Instant, now: Instant) -> Instant {
        match self.answered {
            Some((last, at)) if number < last && at > sent => at,
            _ => now,
        }
    }

    /// The first one in the queue looks when the server may be tried again.
    pub(super) fn wake_first(&mut self) {
        while let Some(first) = self.waiting.front() {
            if *first.state.lock() == Waiter::Waits {
                first.changed.notify_one();
                return;
            }
            self.waiting.pop_front();
            self.gone -= 1;
        }
    }

    /// A request in the queue does not wait any more.
    pub(super) fn forget_one(&mut self) {
        self.gone += 1;
        if self.refused.is_some() {
            self.wake_first();
        }
        if self.gone > 32 && self.gone * 2 > self.waiting.len() {
            self.waiting
                .retain(|ticket| *ticket.state.lock() == Waiter::Waits);
            self.gone = 0;
        }
    }
}

/// How long the server is left alone, at the least and at the most; for a tenth of the time that it has refused, in between.
const REST: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));

/// The server refuses all requests, perhaps because it is too busy. One request at a time tries whether it still does,
/// less often the longer it does.
pub(super) struct Refused {
    since: Instant,
    pub(super) next_try: Instant,
    pub(super) said: ServerError,
}

impl Refused {
    /// The server has refused a request; `before` if it did so already.
    pub(super) fn again(before: Option<Self>, said: &ServerError, now: Instant) -> Self {
        let since = before.map_or(now, |before| before.since);
        let rest = ((now - since) / 10).clamp(REST.0, REST.1);
        Self {
            since,
            next_try: now + jitter(rest),
            said: said.clone(),
        }
    }
}
