//! Holds by when they need attention.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::clock::BootInstant;
use crate::hold::Hold;
use crate::sync::atomic::Ordering;

/// A timer queue. A hold is in it at most once, from its grant to its end.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// By time, and for one time by the hold's number, which it has alone among those of its client.
    by_due: BTreeMap<(u64, u64), Arc<Hold>>,
}

impl Queue {
    /// Puts a hold in, or moves it.
    pub(super) fn put(&mut self, hold: Arc<Hold>, due: BootInstant) {
        self.take(&hold);
        let at = due.as_nanos().max(1);
        hold.renewal_due.store(at, Ordering::Relaxed);
        self.by_due.insert((at, hold.id.number()), hold);
    }

    /// Takes a hold out; whether it was in.
    pub(super) fn take(&mut self, hold: &Hold) -> bool {
        let at = hold.renewal_due.swap(0, Ordering::Relaxed);
        at != 0 && self.by_due.remove(&(at, hold.id.number())).is_some()
    }

    /// Takes out the next hold that is due.
    pub(super) fn pop_due(&mut self, now: BootInstant) -> Option<Arc<Hold>> {
        let first = self.by_due.first_entry()?;
        if first.key().0 > now.as_nanos() {
            return None;
        }
        let hold = first.remove();
        hold.renewal_due.store(0, Ordering::Relaxed);
        Some(hold)
    }

    pub(super) fn next_due(&self) -> Option<BootInstant> {
        let ((at, _), _) = self.by_due.first_key_value()?;
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
