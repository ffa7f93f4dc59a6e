//! Releases that are to be sent later.

use std::collections::BTreeMap;

use super::queue::Item;
use crate::clock::Instant;

/// Releases by the time at which they are due.
#[derive(Default)]
pub(super) struct Later {
    items: BTreeMap<(Instant, u64), Item>,
    number: u64,
}

impl Later {
    pub(super) fn put(&mut self, due: Instant, item: Item) {
        self.number += 1;
        self.items.insert((due, self.number), item);
    }

    /// When the first release is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.items.keys().next().map(|(due, _)| *due)
    }

    /// Takes the releases that are due.
    pub(super) fn take(&mut self, now: Instant) -> impl Iterator<Item = Item> {
        std::iter::from_fn(move || {
            let first = self.items.first_entry()?;
            (first.key().0 <= now).then(|| first.remove())
        })
    }
}
