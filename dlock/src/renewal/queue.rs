//! Holds by when they need attention.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::clock::BootInstant;
use crate::lock::Hold;

/// A timer queue. A hold is in it at most once, from its grant to its end.
#[derive(Debug, Default)]
pub(super) struct Queue {
    by_due: BTreeMap<u64, Arc<Hold>>,
}

impl Queue {
    /// Puts a hold in, or moves it. Times are unique: a tie goes one nanosecond later.
    pub(super) fn put(&mut self, hold: Arc<Hold>, due: BootInstant) {
        self.take(&hold);
        let mut at = due.as_nanos().max(1);
        while self.by_due.contains_key(&at) {
            at += 1;
        }
        hold.renewal_due.store(at, Ordering::Relaxed);
        self.by_due.insert(at, hold);
    }

    /// Takes a hold out; whether it was in.
    pub(super) fn take(&mut self, hold: &Hold) -> bool {
        let at = hold.renewal_due.swap(0, Ordering::Relaxed);
        at != 0 && self.by_due.remove(&at).is_some()
    }

    /// Takes out the next hold that is due.
    pub(super) fn pop_due(&mut self, now: BootInstant) -> Option<Arc<Hold>> {
        let first = self.by_due.first_entry()?;
        if *first.key() > now.as_nanos() {
            return None;
        }
        let hold = first.remove();
        hold.renewal_due.store(0, Ordering::Relaxed);
        Some(hold)
    }

    pub(super) fn next_due(&self) -> Option<BootInstant> {
        let (at, _) = self.by_due.first_key_value()?;
        Some(BootInstant::from_nanos(*at))
    }

    pub(super) fn drain(&mut self) -> Vec<Arc<Hold>> {
        let holds: Vec<_> = std::mem::take(&mut self.by_due).into_values().collect();
        for hold in &holds {
            hold.renewal_due.store(0, Ordering::Relaxed);
        }
        holds
    }
}
