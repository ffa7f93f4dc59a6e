//! What times say about the order.

use std::collections::BTreeSet;

use super::lock::{Event, Step};

/// When those return who have yet to come: a grant keeps them out until it is released, which cannot be before a moment that is
/// known. Where there are no tokens, this says where to look.
pub(super) struct Times {
    /// When each returns, and until when it is believed.
    known: Vec<(u64, u64)>,
    writers: BTreeSet<(u64, usize)>,
    all: BTreeSet<(u64, usize)>,
}

impl Times {
    pub(super) fn of(events: &[Event]) -> Self {
        let mut times = Self {
            known: vec![(0, 0); events.len()],
            writers: BTreeSet::new(),
            all: BTreeSet::new(),
        };
        let mut acquires = vec![None; events.len()];
        for (number, event) in events.iter().enumerate() {
            match event.step {
                Step::Acquire { hold, .. } => {
                    times.known[number].0 = event.returned;
                    acquires[hold] = Some(number);
                }
                Step::Release { hold } => {
                    if let Some(acquire) = acquires[hold] {
                        times.known[acquire].1 = event.called;
                    }
                }
            }
        }
        for (number, event) in events.iter().enumerate() {
            times.put_back(number, event.step);
        }
        times
    }

    pub(super) fn take(&mut self, number: usize, step: Step) {
        if let Step::Acquire { .. } = step {
            let (returns, _) = self.known[number];
            self.writers.remove(&(returns, number));
            self.all.remove(&(returns, number));
        }
    }

    pub(super) fn put_back(&mut self, number: usize, step: Step) {
        if let Step::Acquire {
            write, owner: None, ..
        } = step
        {
            let (returns, _) = self.known[number];
            self.all.insert((returns, number));
            if write {
                self.writers.insert((returns, number));
            }
        }
    }

    /// Whether another task would be kept out until after it has returned.
    pub(super) fn leave_behind(&self, number: usize, step: Step) -> bool {
        let Step::Acquire { write, .. } = step else {
            return false;
        };
        let (_, ends) = self.known[number];
        let others = if write { &self.all } else { &self.writers };
        let mut others = others.iter().filter(|(_, other)| *other != number);
        others.next().is_some_and(|(returns, _)| *returns < ends)
    }
}
