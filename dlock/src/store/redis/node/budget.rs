//! How many acquires are under way to one server. Renewals, releases and what else ends something are not counted: they
//! never wait here, and the server's queue in front of them stays short.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::admission::Refused;
use super::admission::{CLAIM, State, Ticket, Waiter};
use super::pace;
use crate::clock::{Instant, timeout_at};
use crate::metrics;
use crate::store::redis::wire::ServerError;

/// How often a request that waits looks whether those before it have come to stand still; more seldom, the more wait, and
/// at most.
const LOOK: Duration = Duration::from_millis(250);
const MANY: usize = 2;
const SELDOM: Duration = Duration::from_secs(4);

/// The acquires to one server: so many as it answers in time are under way, the others wait in order.
///
/// A future that is not polled keeps nothing from others: a request counts for as long as an answer may take, and only until
/// one that was admitted later has been answered, because servers answer in order.
pub(crate) struct Budget {
    state: Mutex<State>,
    /// How long an answer may take.
    longest: Duration,
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

    /// Sends now, if there is room and no request waits.
    pub(crate) fn try_enter(&self, now: Instant) -> Option<Permit<'_>> {
        let mut state = self.state.lock();
        let free = state.waiting.is_empty() && state.has_room(now);
        free.then(|| Permit {
            budget: self,
            number: state.count(now + self.longest),
        })
    }

    /// Sends once it is its turn, unless another server is wanted by then.
    pub(crate) async fn enter(
        &self,
        deadline: Instant,
        elsewhere: impl Future<Output = ()>,
    ) -> Result<Permit<'_>, Unsent> {
        if let Some(permit) = self.try_enter(Instant::now()) {
            return Ok(permit);
        }
        let place = self.queue();
        let mut elsewhere = pin!(elsewhere);
        let mut look = self.look(&place);
        loop {
            // Dropped is only the wait for a notice, which is kept.
            tokio::select! {
                biased;
                () = &mut elsewhere => return Err(Unsent::Elsewhere),
                _ = timeout_at(look.min(deadline), place.ticket.changed.notified()) => {}
            }
            let now = Instant::now();
            if now >= deadline {
                return Err(Unsent::Late);
            }
            // Requests ahead may have come to stand still, and so may the next ones.
            let admitted = self.state.lock().admit(now);
            if let Some(permit) = place.take() {
                return Ok(permit);
            }
            look = if admitted {
                now + CLAIM
            } else {
                self.look(&place)
            };
        }
    }

    fn look(&self, place: &Place<'_>) -> Instant {
        let state = self.state.lock();
        let times = u32::try_from(1 + state.waiting.len() / MANY).unwrap_or(u32::MAX);
        let now = Instant::now();
        let usual = now + LOOK.saturating_mul(times).min(SELDOM);
        let first = state.waiting.front();
        let is_first = first.is_some_and(|first| Arc::ptr_eq(first, &place.ticket));
        match &state.refused {
            // The first one tries, unless another does already.
            Some(refused) if is_first && now < refused.next_try => usual.min(refused.next_try),
            _ => usual,
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
        let excess = state.round_trips.excess(now);
        state.pace.next_look(now, usual, told, excess)
    }

    /// When one of the queued requests may try again, while the server refuses all of them.
    pub(crate) fn next_try(&self) -> Option<Instant> {
        let state = self.state.lock();
        state.refused.as_ref().map(|refused| refused.next_try)
    }

    /// The error that the server answers with while it refuses all requests.
    pub(crate) fn refusal(&self) -> Option<ServerError> {
        let state = self.state.lock();
        state.refused.as_ref().map(|refused| refused.said.clone())
    }

    /// How long a waiter that is answered now may pause.
    pub(crate) fn longest_pause(&self) -> Duration {
        pace::longest(self.state.lock().round_trips.excess(Instant::now()))
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
    /// The request that left then has been waited for in vain so far.
    pub(crate) fn late(&self, sent: Instant) {
        let now = Instant::now();
        let waited = (now - sent).min(self.budget.longest);
        let mut state = self.budget.state.lock();
        let all = state.is_full(now) || !state.waiting.is_empty();
        state.round_trips.waited(waited, now, all);
    }

    /// The request that left then has been answered, or is not waited for any more.
    pub(crate) fn ended(self, sent: Instant, is_answered: bool) {
        let now = Instant::now();
        let mut state = self.budget.state.lock();
        if is_answered {
            let took = state.answered_at(self.number, sent, now) - sent;
            if took <= self.budget.longest {
                let all = state.is_full(now) || !state.waiting.is_empty();
                state.round_trips.took(took, now, all);
            }
            state.answered(self.number, now);
            state.refused = None;
        }
        state.leave(self.number, now);
        drop(state);
        std::mem::forget(self);
    }

    /// The server has refused the request, as it does all others.
    pub(crate) fn refused(self, said: &ServerError) {
        let now = Instant::now();
        let mut state = self.budget.state.lock();
        state.answered(self.number, now);
        state.refused = Some(Refused::again(state.refused.take(), said, now));
        state.round_trips.begin();
        state.leave(self.number, now);
        state.wake_first();
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
    use std::future::{Pending, pending, ready};
    use std::pin::pin;
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::{Budget, Permit, Unsent};
    use crate::clock::Instant;
    use crate::store::redis::wire::refusal;

    const LONG: Duration = Duration::from_secs(60);

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    fn nowhere() -> Pending<()> {
        pending()
    }

    fn room(budget: &Budget) -> Option<Permit<'_>> {
        budget.try_enter(Instant::now())
    }

    fn fill_some(budget: &Budget, count: usize) -> Vec<Permit<'_>> {
        let permit = || room(budget).expect("others are over");
        (0..count).map(|_| permit()).collect()
    }

    fn fill(budget: &Budget) -> Vec<Permit<'_>> {
        std::iter::from_fn(|| room(budget)).collect()
    }

    #[tokio::test]
    async fn those_who_wait_send_in_order_and_no_place_is_lost() {
        let budget = Budget::new(LONG);
        let mut permits = fill(&budget);
        let mut first = Box::pin(budget.enter(soon(), nowhere()));
        let mut second = Box::pin(budget.enter(soon(), nowhere()));
        let mut third = Box::pin(budget.enter(soon(), nowhere()));
        for waiting in [&mut first, &mut second, &mut third] {
            assert!(waiting.now_or_never().is_none());
        }
        assert!(room(&budget).is_none());
        permits.pop();
        assert!(room(&budget).is_none(), "others were first");
        // Its turn has come, and it goes.
        drop(first);
        assert!((&mut third).now_or_never().is_none());
        let second = second.now_or_never().expect("its turn").expect("sends");
        // A waiter that gives up in the middle of the queue leaves no hole.
        drop(third);
        drop(second);
        assert!(room(&budget).is_some());
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
        let mut still = Box::pin(budget.enter(soon(), nowhere()));
        let mut next = Box::pin(budget.enter(soon(), nowhere()));
        assert!((&mut still).now_or_never().is_none());
        assert!((&mut next).now_or_never().is_none());
        permits.pop();
        let _next = next.await.expect("sends");
        let _still = still.await.expect("sends, too, if late");
    }

    #[tokio::test]
    async fn a_server_that_refuses_everybody_is_tried_by_one_at_a_time_until_it_answers() {
        let budget = Budget::new(LONG);
        let answer = redis::parse_redis_value(b"-LOADING Redis is loading\r\n").expect("valid");
        let loading = refusal(&answer).expect("one").clone();
        let (first, second) = (fill_some(&budget, 1), fill_some(&budget, 1));
        for permit in first.into_iter().chain(second) {
            permit.refused(&loading);
        }
        assert!(room(&budget).is_none(), "it rests");
        let probe = budget.enter(soon(), nowhere()).await.expect("sends");
        assert!(budget.next_try().expect("refused") <= Instant::now());
        assert!(room(&budget).is_none(), "one tries");
        drop(probe);
        // A try that was dropped says nothing of the server.
        let probe = budget.enter(soon(), nowhere()).await.expect("sends");
        assert_eq!(budget.refusal(), Some(loading));
        probe.ended(Instant::now(), true);
        assert!(budget.next_try().is_none() && fill(&budget).len() > 1);
    }

    #[tokio::test]
    async fn who_gives_up_in_numbers_leaves_nothing_behind() {
        let budget = Budget::new(LONG);
        let permits = fill(&budget);
        for _ in 0..1000 {
            let mut waiting = pin!(budget.enter(soon(), nowhere()));
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        assert!(budget.state.lock().waiting.len() < 100, "{budget:?}");
        drop(permits);
        assert!(room(&budget).is_some());
    }

    #[tokio::test]
    async fn nobody_waits_beyond_its_time_or_for_a_server_that_it_does_not_want() {
        let budget = Budget::new(LONG);
        let _permits = fill(&budget);
        let late = budget.enter(Instant::now(), nowhere()).await;
        assert_eq!(late.err(), Some(Unsent::Late));
        let elsewhere = budget.enter(soon(), ready(())).await;
        assert_eq!(elsewhere.err(), Some(Unsent::Elsewhere));
    }
}
