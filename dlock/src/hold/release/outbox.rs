//! What is to be sent to one node.

use std::collections::VecDeque;
use std::time::Duration;

use super::queue::Item;
use crate::backoff::Backoff;
use crate::clock::Instant;

/// Releases in one pipeline, and pipelines under way to one node.
const BATCH: usize = 256;
const UNDER_WAY: usize = 4;

/// How long a node is left alone that has not answered, at first and at most.
const FIRST_REST: Duration = Duration::from_millis(50);
const LONGEST_REST: Duration = Duration::from_millis(500);

/// The releases for one node. After a batch in vain all of them rest for a while: very many, each sent again by itself, would
/// keep this process busy for as long as a server is away.
#[derive(Default)]
pub(super) struct Outbox {
    items: VecDeque<Item>,
    under_way: usize,
    /// The end of the rest.
    due: Option<Instant>,
    /// The node has not answered since.
    rests: Option<Backoff>,
}

impl Outbox {
    pub(super) fn put(&mut self, item: Item) {
        self.items.push_back(item);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether there is nothing more to know about the node.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let rests = self.due.is_some_and(|due| now < due);
        self.is_empty() && self.under_way == 0 && !rests
    }

    /// When the rest is over, if there is something to send then.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| self.may_send())
    }

    fn may_send(&self) -> bool {
        !self.is_empty() && self.under_way < UNDER_WAY
    }

    /// What may be sent now.
    pub(super) fn batch(&mut self, now: Instant) -> Option<Vec<Item>> {
        let rests = self.due.is_some_and(|due| now < due);
        if rests || !self.may_send() {
            return None;
        }
        self.due = None;
        self.under_way += 1;
        let count = self.items.len().min(BATCH);
        Some(self.items.drain(..count).collect())
    }

    /// A batch has come to its end.
    pub(super) fn ended(&mut self, reached: bool, all_answered: bool, now: Instant) {
        self.under_way -= 1;
        if reached {
            self.rests = None;
        }
        if !all_answered && self.due.is_none() {
            let first = || Backoff::new(FIRST_REST, LONGEST_REST);
            self.due = Some(now + self.rests.get_or_insert_with(first).pause());
        }
    }
}
