//! What tokens say about the order.

use std::collections::BTreeSet;

use super::lock::{Event, Step};

/// The tokens of those who have yet to come, of which the lock allows no smaller one after a larger one: a grant that would leave
/// another behind cannot be next.
pub(super) struct Tokens {
    writers: BTreeSet<(u64, usize)>,
    all: BTreeSet<(u64, usize)>,
}

impl Tokens {
    pub(super) fn of(events: &[Event]) -> Self {
        let mut tokens = Self {
            writers: BTreeSet::new(),
            all: BTreeSet::new(),
        };
        for (number, event) in events.iter().enumerate() {
            tokens.put_back(number, event.step);
        }
        tokens
    }

    pub(super) fn take(&mut self, number: usize, step: Step) {
        if let Step::Acquire {
            token: Some(token), ..
        } = step
        {
            self.writers.remove(&(token, number));
            self.all.remove(&(token, number));
        }
    }

    pub(super) fn put_back(&mut self, number: usize, step: Step) {
        if let Step::Acquire {
            token: Some(token),
            write,
            owner: None,
            ..
        } = step
        {
            self.all.insert((token, number));
            if write {
                self.writers.insert((token, number));
            }
        }
    }

    /// Whether the lock would refuse another task after this step.
    pub(super) fn leaves_behind(&self, number: usize, step: Step) -> bool {
        let Step::Acquire {
            token: Some(token),
            write,
            ..
        } = step
        else {
            return false;
        };
        let others = if write { &self.all } else { &self.writers };
        let mut others = others.iter().filter(|(_, other)| *other != number);
        others
            .next()
            .is_some_and(|(smallest, _)| *smallest <= token)
    }
}
