//! How many acquires are under way to one server. Renewals, releases and what else ends something are not counted: they
//! never wait here, and the server's queue in front of them stays short.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::pace::Pace;
use super::round_trips::RoundTrips;
use crate::clock::{Instant, timeout_at};
use crate::metrics;

/// How often who waits looks whether it still wants this server.
const LOOK: Duration = Duration::from_millis(250);

/// The acquires to one server: so many as it answers in time are under way, the others wait in order.
#[derive(Default)]
pub(crate) struct Budget(Mutex<State>);

#[derive(Default)]
struct State {
    under_way: usize,
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
    Admitted,
    Gone,
}

/// Why somebody does not send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// The request wants another server by now.
    Elsewhere,
    /// Its time is over.
    Late,
}

impl Budget {
    /// Sends at once, if there is room and nobody waits.
    pub(crate) fn try_enter(&self) -> Option<Permit<'_>> {
        let mut state = self.0.lock();
        let free = state.is_free();
        free.then(|| {
            state.under_way += 1;
            Permit(self)
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
            if place.is_admitted() {
                return Ok(place.take());
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
        let mut state = self.0.lock();
        state.waiting.push_back(Arc::clone(&ticket));
        // There may be room by now.
        state.admit();
        drop(state);
        metrics::queued(1.0);
        Place {
            budget: self,
            ticket,
        }
    }

    /// For how long somebody pauses who would usually look again after `usual`, so that all of this client together do not
    /// keep the server busy. `told`: a message wakes it as well.
    pub(crate) fn pause(&self, usual: Duration, told: bool) -> Duration {
        let state = &mut *self.0.lock();
        let excess = state.round_trips.excess();
        state.pace.pause(Instant::now(), usual, told, excess)
    }
}

impl State {
    fn is_free(&self) -> bool {
        self.waiting.is_empty() && self.under_way < self.round_trips.limit()
    }

    /// One less is under way.
    fn leave(&mut self) {
        self.under_way -= 1;
        self.admit();
    }

    fn admit(&mut self) {
        while self.under_way < self.round_trips.limit() {
            let Some(first) = self.waiting.pop_front() else {
                return;
            };
            let mut waiter = first.state.lock();
            if *waiter == Waiter::Waits {
                *waiter = Waiter::Admitted;
                self.under_way += 1;
                first.changed.notify_one();
            } else {
                self.gone -= 1;
            }
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
    fn is_admitted(&self) -> bool {
        *self.ticket.state.lock() == Waiter::Admitted
    }

    /// What it waited for.
    fn take(self) -> Permit<'b> {
        *self.ticket.state.lock() = Waiter::Gone;
        Permit(self.budget)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        metrics::queued(-1.0);
        let mut state = self.budget.0.lock();
        let before = std::mem::replace(&mut *self.ticket.state.lock(), Waiter::Gone);
        match before {
            Waiter::Waits => state.forget_one(),
            Waiter::Admitted => state.leave(),
            // It was taken.
            Waiter::Gone => {}
        }
    }
}

/// The right to have a request under way, until dropped.
#[derive(Debug)]
#[must_use = "dropping it lets the next one send"]
pub(crate) struct Permit<'b>(&'b Budget);

impl Permit<'_> {
    /// The request that left then has been answered, or was waited for in vain.
    pub(crate) fn ended(self, sent: Instant) {
        let now = Instant::now();
        let mut state = self.0.0.lock();
        let all = !state.is_free();
        state.round_trips.took(now - sent, now, all);
        state.leave();
        drop(state);
        std::mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.0.lock().leave();
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        f.debug_struct("Budget")
            .field("under_way", &state.under_way)
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

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    fn always() -> bool {
        true
    }

    fn fill(budget: &Budget) -> Vec<Permit<'_>> {
        std::iter::from_fn(|| budget.try_enter()).collect()
    }

    #[tokio::test]
    async fn those_who_wait_send_in_order_and_no_place_is_lost() {
        let budget = Budget::default();
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
    async fn who_gives_up_in_numbers_leaves_nothing_behind() {
        let budget = Budget::default();
        let permits = fill(&budget);
        for _ in 0..1000 {
            let mut waiting = pin!(budget.enter(soon(), always));
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        assert!(budget.0.lock().waiting.len() < 100, "{budget:?}");
        drop(permits);
        assert!(budget.try_enter().is_some());
    }

    #[tokio::test]
    async fn nobody_waits_beyond_its_time_or_for_a_server_that_it_does_not_want() {
        let budget = Budget::default();
        let _permits = fill(&budget);
        let late = budget.enter(Instant::now(), always).await;
        assert_eq!(late.err(), Some(Unsent::Late));
        let elsewhere = budget.enter(soon(), || false).await;
        assert_eq!(elsewhere.err(), Some(Unsent::Elsewhere));
    }
}
