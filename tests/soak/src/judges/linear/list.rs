//! What happened, in the order of time.

use super::lock::Event;

/// Calls and returns in the order of time, as a list that events are taken out of and put back into.
pub(super) struct List {
    /// For each entry, the one before and the one after; entry 0 is the end of both.
    links: Vec<(usize, usize)>,
    /// What each entry is: a call or a return, and of which event.
    entries: Vec<Option<(bool, usize)>>,
    /// Where an event's call and its return are.
    places: Vec<(usize, usize)>,
}

impl List {
    pub(super) fn new(events: &[Event]) -> Self {
        let mut moments: Vec<(u64, bool, usize)> = Vec::new();
        for (number, event) in events.iter().enumerate() {
            moments.push((event.called, false, number));
            moments.push((event.returned, true, number));
        }
        // A call that begins when another returns may have come before it.
        moments.sort_unstable();
        let count = moments.len();
        let mut list = Self {
            links: (0..=count)
                .map(|at| ((at + count) % (count + 1), (at + 1) % (count + 1)))
                .collect(),
            entries: vec![None],
            places: vec![(0, 0); events.len()],
        };
        for (at, (_, returns, number)) in moments.into_iter().enumerate() {
            list.entries.push(Some((returns, number)));
            let places = &mut list.places[number];
            if returns {
                places.1 = at + 1;
            } else {
                places.0 = at + 1;
            }
        }
        list
    }

    /// The first entry.
    pub(super) fn first(&self) -> usize {
        self.after(0)
    }

    pub(super) fn after(&self, at: usize) -> usize {
        self.links[at].1
    }

    /// What follows an event's call.
    pub(super) fn after_call(&self, event: usize) -> usize {
        self.after(self.places[event].0)
    }

    /// Whether an entry is a return, and of which event; nothing at the end.
    pub(super) fn entry(&self, at: usize) -> Option<(bool, usize)> {
        self.entries[at]
    }

    fn unlink(&mut self, at: usize) {
        let (before, after) = self.links[at];
        self.links[before].1 = after;
        self.links[after].0 = before;
    }

    fn link(&mut self, at: usize) {
        let (before, after) = self.links[at];
        self.links[before].1 = at;
        self.links[after].0 = at;
    }

    pub(super) fn take(&mut self, event: usize) {
        let (call, returned) = self.places[event];
        self.unlink(call);
        self.unlink(returned);
    }

    pub(super) fn put_back(&mut self, event: usize) {
        let (call, returned) = self.places[event];
        self.link(returned);
        self.link(call);
    }
}
