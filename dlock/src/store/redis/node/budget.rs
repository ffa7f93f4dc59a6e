//! How many acquires are under way to one server. Renewals, releases and what else ends something are not counted: they
//! never wait here, and the server's queue in front of them stays short.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::pace::Pace;
use super::round_trips::RoundTrips;
use crate::clock::{Instant, timeout_at};
use crate::metrics;

/// How often a request that waits looks whether it still wants this server.
const LOOK: Duration = Duration::from_millis(250);

/// For how long a request counts that may be sent and has not been. Its future may stand still.
const CLAIM: Duration = Duration::from_millis(100);

/// The acquires to one server: so many as it answers in time are under way, the others wait in order.
///
/// A future that is not polled keeps nothing from others: a request counts for as long as an answer may take, and only until
/// one that was admitted later has been answered, because servers answer in order.
pub(crate) struct Budget {
    state: Mutex<State>,
    /// How long an answer may take.
    longest: Duration,
}

#[derive(Default)]
struct State {
    /// The requests that are under way, in the order in which they were admitted, and until when they count.
    under_way: BTreeMap<u64, Instant>,
    admitted: u64,
    /// None of them counts until an earlier time.
    earliest: Option<Instant>,
    /// The last one that was answered, and when.
    answered: Option<(u64, Instant)>,
    waiting: VecDeque<Arc<Ticket>>,
    /// How many of those do not wait any more.
    gone: usize,
    round_trips: RoundTrips,
    pace: Pace,
}

/// A request that waits for its permit.
struct Ticket {
    state: Mutex<Waiter>,
    changed: Notify,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiter {
    Waits,
    /// May send. Counted as under way already.
    Admitted(u64),
    Gone,
}

/// Why a request is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// The request wants another server by now.
    Elsewhere,
    /// Its time is over.
    Late,
}

impl Budget {
    pub(crate) fn new(longest: Duration) -> Self {
        Self {
            state: Mutex::default(),
            longest,
        }
    }

    /// Sends at once, if there is room and no request waits.
    pub(crate) fn try_enter(&self) -> Option<Permit<'_>> {
        let now = Instant::now();
        let mut state = self.state.lock();
        let free = state.waiting.is_empty() && state.has_room(now);
        free.then(|| Permit {
            budget: self,
            number: state.count(now + self.longest),
        })
    }

    /// Sends once it is its turn.
    pub(crate) async fn enter(
        &self,
        deadline: Instant,
        still_wanted: impl Fn() -> bool,
    ) -> Result<Permit<'_>, Unsent> {
        if let Some(permit) = self.try_enter() {
            return Ok(permit);
        }
        let place = self.queue();
        loop {
            let look = deadline.min(Instant::now() + LOOK);
            // Dropped is only the wait for a notice, which is kept.
            let _ = timeout_at(look, place.ticket.changed.notified()).await;
            // Those before it may have come to stand still.
            self.state.lock().admit(Instant::now());
            if let Some(permit) = place.take() {
                return Ok(permit);
            }
            if !still_wanted() {
                return Err(Unsent::Elsewhere);
            }
            if Instant::now() >= deadline {
                return Err(Unsent::Late);
            }
        }
    }

    fn queue(&self) -> Place<'_> {
        let ticket = Arc::new(Ticket {
            state: Mutex::new(Waiter::Waits),
            changed: Notify::new(),
        });
        let mut state = self.state.lock();
        state.waiting.push_back(Arc::clone(&ticket));
        // There may be room by now.
        state.admit(Instant::now());
        drop(state);
        metrics::queued(1.0);
        Place {
            budget: self,
            ticket,
        }
    }

    /// When a waiter looks again that would usually do so after `usual`, so that all of this client together do not keep the
    /// server busy. `told`: a message wakes it as well.
    pub(crate) fn next_look(&self, now: Instant, usual: Duration, told: bool) -> Instant {
        let state = &mut *self.state.lock();
        let excess = state.round_trips.excess();
        state.pace.next_look(now, usual, told, excess)
    }
}

impl State {
    fn is_full(&self) -> bool {
        self.under_way.len() >= self.round_trips.limit()
    }

    /// Whether another one may be under way.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.is_full() && self.earliest.is_some_and(|earliest| earliest <= now) {
            self.under_way.retain(|_, until| *until > now);
            self.earliest = self.under_way.values().min().copied();
        }
        !self.is_full()
    }

    /// Counts a request as under way, and numbers it.
    fn count(&mut self, until: Instant) -> u64 {
        self.admitted += 1;
        self.count_as(self.admitted, until);
        self.admitted
    }

    fn count_as(&mut self, number: u64, until: Instant) {
        self.under_way.insert(number, until);
        self.earliest = Some(self.earliest.map_or(until, |earliest| earliest.min(until)));
    }

    /// One less is under way.
    fn leave(&mut self, number: u64, now: Instant) {
        self.under_way.remove(&number);
        self.admit(now);
    }

    fn admit(&mut self, now: Instant) {
        while !self.waiting.is_empty() && self.has_room(now) {
            let Some(first) = self.waiting.pop_front() else {
                return;
            };
            let mut waiter = first.state.lock();
            if *waiter == Waiter::Waits {
                *waiter = Waiter::Admitted(self.count(now + CLAIM));
                first.changed.notify_one();
            } else {
                self.gone -= 1;
            }
        }
    }

    /// The server has answered a request, and those before it.
    fn answered(&mut self, number: u64, now: Instant) {
        if self.answered.is_none_or(|(last, _)| last < number) {
            self.answered = Some((number, now));
            while let Some(first) = self.under_way.first_entry()
                && *first.key() < number
            {
                first.remove();
            }
        }
    }

    /// When a request had an answer whose future is polled now.
    fn answered_at(&self, number: u64, sent: Instant, now: Instant) -> Instant {
        match self.answered {
            Some((last, at)) if number < last && at > sent => at,
            _ => now,
        }
    }

    /// One of those in the queue does not wait any more.
    fn forget_one(&mut self) {
        self.gone += 1;
        if self.gone > 32 && self.gone * 2 > self.waiting.len() {
            self.waiting
                .retain(|ticket| *ticket.state.lock() == Waiter::Waits);
            self.gone = 0;
        }
    }
}

/// A place in the queue. Dropped, it is given up, also if its turn has just come.
struct Place<'b> {
    budget: &'b Budget,
    ticket: Arc<Ticket>,
}

impl<'b> Place<'b> {
    /// What it waited for, if it is its turn.
    fn take(&self) -> Option<Permit<'b>> {
        let mut state = self.budget.state.lock();
        let mut waiter = self.ticket.state.lock();
        let Waiter::Admitted(number) = *waiter else {
            return None;
        };
        *waiter = Waiter::Gone;
        state.count_as(number, Instant::now() + self.budget.longest);
        Some(Permit {
            budget: self.budget,
            number,
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        metrics::queued(-1.0);
        let mut state = self.budget.state.lock();
        let before = std::mem::replace(&mut *self.ticket.state.lock(), Waiter::Gone);
        match before {
            Waiter::Waits => state.forget_one(),
            Waiter::Admitted(number) => state.leave(number, Instant::now()),
            // It was taken.
            Waiter::Gone => {}
        }
    }
}

/// The right to have a request under way, until dropped.
#[derive(Debug)]
#[must_use = "dropping it lets the next one send"]
pub(crate) struct Permit<'b> {
    budget: &'b Budget,
    number: u64,
}

impl Permit<'_> {
    /// The request that left then has been answered, or was waited for in vain.
    pub(crate) fn ended(self, sent: Instant, is_answered: bool) {
        let now = Instant::now();
        let mut state = self.budget.state.lock();
        let all = state.is_full() || !state.waiting.is_empty();
        let answered_at = state.answered_at(self.number, sent, now);
        if answered_at - sent <= self.budget.longest {
            state.round_trips.took(answered_at - sent, now, all);
        }
        if is_answered {
            state.answered(self.number, now);
        }
        state.leave(self.number, now);
        drop(state);
        std::mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state.lock();
        state.leave(self.number, Instant::now());
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Budget")
            .field("under_way", &state.under_way.len())
            .field("waiting", &(state.waiting.len() - state.gone))
            .field("limit", &state.round_trips.limit())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::{Budget, Permit, Unsent};
    use crate::clock::Instant;

    const LONG: Duration = Duration::from_secs(60);

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    fn always() -> bool {
        true
    }

    fn fill_some(budget: &Budget, count: usize) -> Vec<Permit<'_>> {
        let permit = || budget.try_enter().expect("others are over");
        (0..count).map(|_| permit()).collect()
    }

    fn fill(budget: &Budget) -> Vec<Permit<'_>> {
        std::iter::from_fn(|| budget.try_enter()).collect()
    }

    #[tokio::test]
    async fn those_who_wait_send_in_order_and_no_place_is_lost() {
        let budget = Budget::new(LONG);
        let mut permits = fill(&budget);
        let mut first = Box::pin(budget.enter(soon(), always));
        let mut second = Box::pin(budget.enter(soon(), always));
        let mut third = Box::pin(budget.enter(soon(), always));
        for waiting in [&mut first, &mut second, &mut third] {
            assert!(waiting.now_or_never().is_none());
        }
        assert!(budget.try_enter().is_none());
        permits.pop();
        assert!(budget.try_enter().is_none(), "others were first");
        // Its turn has come, and it goes.
        drop(first);
        assert!((&mut third).now_or_never().is_none());
        let second = second.now_or_never().expect("its turn").expect("sends");
        // One who gives up in the middle of the queue leaves no hole.
        drop(third);
        drop(second);
        assert!(budget.try_enter().is_some());
        let under_way = permits.len();
        drop(permits);
        assert_eq!(fill(&budget).len(), under_way + 1, "{budget:?}");
    }

    #[tokio::test]
    async fn an_answer_frees_what_was_sent_before_and_a_request_counts_no_longer_than_it_may_take()
    {
        let budget = Budget::new(LONG);
        let mut permits = fill(&budget);
        let last = permits.pop().expect("some");
        last.ended(Instant::now(), true);
        let more = fill(&budget);
        assert_eq!(more.len(), permits.len() + 1, "those before are answered");

        let hasty = Budget::new(Duration::ZERO);
        let _permits = fill_some(&hasty, 10_000);
    }

    #[tokio::test]
    async fn a_request_that_does_not_take_its_turn_lets_the_next_one_send() {
        let budget = Budget::new(LONG);
        let mut permits = fill(&budget);
        let mut still = Box::pin(budget.enter(soon(), always));
        let mut next = Box::pin(budget.enter(soon(), always));
        assert!((&mut still).now_or_never().is_none());
        assert!((&mut next).now_or_never().is_none());
        permits.pop();
        let _next = next.await.expect("sends");
        let _still = still.await.expect("sends, too, if late");
    }

    #[tokio::test]
    async fn who_gives_up_in_numbers_leaves_nothing_behind() {
        let budget = Budget::new(LONG);
        let permits = fill(&budget);
        for _ in 0..1000 {
            let mut waiting = pin!(budget.enter(soon(), always));
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        assert!(budget.state.lock().waiting.len() < 100, "{budget:?}");
        drop(permits);
        assert!(budget.try_enter().is_some());
    }

    #[tokio::test]
    async fn nobody_waits_beyond_its_time_or_for_a_server_that_it_does_not_want() {
        let budget = Budget::new(LONG);
        let _permits = fill(&budget);
        let late = budget.enter(Instant::now(), always).await;
        assert_eq!(late.err(), Some(Unsent::Late));
        let elsewhere = budget.enter(soon(), || false).await;
        assert_eq!(elsewhere.err(), Some(Unsent::Elsewhere));
    }
}
