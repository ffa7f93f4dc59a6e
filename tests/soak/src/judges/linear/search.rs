//! Searching for an order.

use std::{
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
};

use super::{
    list::List,
    lock::{Event, Lock, Step},
    times::Times,
    tokens::Tokens,
};

/// So many steps are enough: a history that can be ordered takes a few for each event.
const STEPS: u64 = 2_000_000;

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Order,
    /// There is none; the first event for which none was found.
    Nothing(usize),
    TooLong,
}

/// Searches for an order of the events.
pub(super) fn search(events: &[Event]) -> Found {
    let mut list = List::new(events);
    let mut tokens = Tokens::of(events);
    let mut times = Times::of(events);
    let mut lock = Lock::default();
    let mut order: Vec<(usize, Lock)> = Vec::new();
    // Where the search has been: the events taken, as the sum of a number for each, and the lock.
    let hasher = RandomState::new();
    let mut sum = 0_u64;
    let mut seen: HashSet<(u64, u64)> = HashSet::new();
    let mut furthest = (0, 0);
    let mut at = list.first();
    for _ in 0..STEPS {
        let Some((returns, number)) = list.entry(at) else {
            return Found::Order;
        };
        if !returns {
            let with = sum.wrapping_add(hasher.hash_one(number));
            let step = events[number].step;
            let next = lock
                .after(step)
                .filter(|_| !tokens.leaves_behind(number, step))
                .filter(|_| !times.leave_behind(number, step));
            if let Some(next) = next
                && seen.insert((with, hasher.hash_one(&next)))
            {
                order.push((number, std::mem::replace(&mut lock, next)));
                sum = with;
                list.take(number);
                tokens.take(number, step);
                times.take(number, step);
                at = list.first();
            } else {
                at = list.after(at);
            }
            continue;
        }
        // It has returned, and was not taken: something before was wrong.
        if order.len() >= furthest.0 {
            furthest = (order.len(), number);
        }
        loop {
            let Some((taken, before)) = order.pop() else {
                return Found::Nothing(furthest.1);
            };
            lock = before;
            sum = sum.wrapping_sub(hasher.hash_one(taken));
            list.put_back(taken);
            let step = events[taken].step;
            tokens.put_back(taken, step);
            times.put_back(taken, step);
            at = list.after_call(taken);
            // What can be done without a release can be done after it, too.
            if matches!(step, Step::Acquire { .. }) {
                break;
            }
        }
    }
    Found::TooLong
}

#[cfg(test)]
mod tests {
    use super::{
        super::lock::{Event, Step},
        Found, search,
    };

    /// A grant that was asked for, and had; and the hold's end, between two moments.
    fn hold(
        number: usize,
        write: bool,
        times: [u64; 4],
        token: impl Into<Option<u64>>,
    ) -> [Event; 2] {
        let [called, returned, ends, ended] = times;
        [
            Event {
                called,
                returned,
                step: Step::Acquire {
                    hold: number,
                    write,
                    owner: None,
                    token: token.into(),
                },
            },
            Event {
                called: ends,
                returned: ended,
                step: Step::Release { hold: number },
            },
        ]
    }

    #[test]
    fn who_asked_first_may_be_granted_last() {
        let history = [
            hold(0, true, [0, 30, 31, 32], 3),
            hold(1, true, [1, 10, 11, 12], 1),
            hold(2, true, [2, 20, 21, u64::MAX], 2),
        ];
        assert_eq!(search(history.as_flattened()), Found::Order);
    }

    #[test]
    fn two_at_once_have_no_order() {
        let mut history = [
            hold(0, true, [0, 10, 20, 21], 1),
            hold(1, true, [1, 15, 30, 31], 2),
        ];
        assert!(matches!(search(history.as_flattened()), Found::Nothing(_)));
        history[0][1].called = 15;
        assert_eq!(search(history.as_flattened()), Found::Order);
        let readers = [
            hold(0, false, [0, 10, 20, 21], 1),
            hold(1, false, [1, 15, 30, 31], 2),
        ];
        assert_eq!(search(readers.as_flattened()), Found::Order);
    }

    #[test]
    fn tokens_that_do_not_grow_have_no_order() {
        let one_after_the_other = |first, second| {
            [
                hold(0, true, [0, 10, 20, 21], first),
                hold(1, true, [30, 31, 32, 33], second),
            ]
        };
        assert_eq!(
            search(one_after_the_other(1, 2).as_flattened()),
            Found::Order
        );
        assert!(matches!(
            search(one_after_the_other(2, 2).as_flattened()),
            Found::Nothing(_)
        ));
        // Both may have been first, but their tokens say who was.
        let open = [
            hold(0, true, [0, 50, 51, 52], 2),
            hold(1, true, [0, 10, 11, 12], 1),
        ];
        assert_eq!(search(open.as_flattened()), Found::Order);
    }

    #[test]
    fn an_owner_comes_in_again() {
        let mut history = [
            hold(0, true, [0, 1, 20, 21], 1),
            hold(1, false, [2, 3, 10, 11], 2),
        ];
        assert!(matches!(search(history.as_flattened()), Found::Nothing(_)));
        for [acquire, _] in &mut history {
            if let Step::Acquire { owner, .. } = &mut acquire.step {
                *owner = Some(7);
            }
        }
        assert_eq!(search(history.as_flattened()), Found::Order);
    }

    #[test]
    fn many_who_overlap_are_ordered_quickly() {
        let history: Vec<[Event; 2]> = (0..2000_u64)
            .map(|at| {
                let asked = (10 * at).saturating_sub(300);
                let number = usize::try_from(at).expect("small");
                hold(
                    number,
                    at % 3 == 0,
                    [asked, 10 * at + 1, 10 * at + 5, 10 * at + 8],
                    at + 1,
                )
            })
            .collect();
        assert_eq!(search(history.as_flattened()), Found::Order);
    }

    /// The first to ask is granted last, by threes, while many wait.
    fn without_tokens(count: u64) -> Vec<[Event; 2]> {
        let hold_at = |at: u64| {
            let asked = (10 * (at - at % 3) + 2 - at % 3).saturating_sub(600);
            let number = usize::try_from(at).expect("small");
            hold(
                number,
                true,
                [asked, 10 * at + 1, 10 * at + 5, 10 * at + 8],
                None,
            )
        };
        (0..count).map(hold_at).collect()
    }

    #[test]
    fn without_tokens_the_times_say_where_to_look() {
        let mut history = without_tokens(2000);
        assert_eq!(search(history.as_flattened()), Found::Order);
        // A task is granted a lock that another still has.
        history[1000][1].called = 10_015;
        assert!(matches!(search(history.as_flattened()), Found::Nothing(_)));
    }
}
