//! The line: first come, first served, and readers and writers take turns. Judged by what is recorded after each request,
//! with an order of arrival of our own:
//!
//! * a writer enters before no writer who came earlier, and before no reader who came earlier or has waited since an
//!   earlier write hold ended;
//! * a reader enters before a writer who came earlier only if a write hold has ended since the reader came.
//!
//! Only waiters count whose places have not run out, and who have not failed to hear. Owners who have the lock already go
//! past the line. Judged while no fault is at work.

use std::collections::BTreeMap;

use super::Judges;
use super::record::{Holding, Record, key_of};
use crate::engine::{Engine, SECOND};

/// How long after a fault the line is judged again: places of the dead are over by then.
const CALM: u64 = 6 * SECOND;

/// What has been seen of each lock.
#[derive(Debug)]
pub(super) struct Order {
    locks: Vec<Seen>,
    looks: u64,
}

#[derive(Debug, Default)]
struct Seen {
    key: Vec<u8>,
    holds: BTreeMap<String, Holding>,
    /// In the order of arrival.
    waiting: Vec<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    id: String,
    write: bool,
    came: u64,
    /// Whether a write hold has ended since a reader came, so that its turn has come; nothing if that is not known.
    admitted: Option<bool>,
}

impl Order {
    pub(super) fn new(locks: usize) -> Self {
        let seen = |lock| Seen {
            key: key_of(lock).into_bytes(),
            ..Seen::default()
        };
        Self {
            locks: (0..locks).map(seen).collect(),
            looks: 0,
        }
    }

    /// The locks that a request is about, and whether only one operation of it is.
    fn about(&self, request: &[u8]) -> Vec<(usize, bool)> {
        let mut found = Vec::new();
        for (lock, seen) in self.locks.iter().enumerate() {
            let count = count(request, &seen.key);
            if count > 0 {
                found.push((lock, count == 1));
            }
        }
        found
    }
}

/// How often a key stands in a request, as a word by itself.
fn count(request: &[u8], key: &[u8]) -> usize {
    let word = [b"\n", key, b"\r"].concat();
    memchr::memmem::find_iter(request, &word).count()
}

impl Seen {
    /// Takes a new record in; what is wrong with the changes.
    fn change(&mut self, record: &Record, look: u64) -> Option<String> {
        let is_over = |id: &String| !record.holds.contains_key(id);
        if self.holds.iter().any(|(id, hold)| hold.write && is_over(id)) {
            for waiter in self.waiting.iter_mut().filter(|waiter| !waiter.write) {
                waiter.admitted = Some(true);
            }
        }
        let mut wrong = None;
        for (id, hold) in &record.holds {
            if !self.holds.contains_key(id) && !hold.owned {
                wrong = wrong.or_else(|| self.judge(id, hold.write, record));
            }
        }
        let places: Vec<(&String, bool)> = record
            .writers
            .values()
            .map(|place| (&place.0, true))
            .chain(record.readers.values().map(|place| (&place.0, false)))
            .collect();
        self.waiting
            .retain(|waiter| places.iter().any(|(id, _)| **id == waiter.id));
        for (id, write) in places {
            if !self.waiting.iter().any(|waiter| waiter.id == *id) {
                self.waiting.push(Waiter {
                    id: id.clone(),
                    write,
                    came: look,
                    admitted: Some(false),
                });
            }
        }
        self.holds.clone_from(&record.holds);
        wrong
    }

    /// A lease that was over and goes on.
    fn revived(&self, record: &Record) -> Option<String> {
        self.holds.iter().find_map(|(id, before)| {
            let now = record.holds.get(id)?;
            let over = before.until <= record.now && now.until > before.until;
            (over && now.token == before.token)
                .then(|| format!("the lease of {id} was over, and goes on"))
        })
    }

    /// More has happened than was seen.
    fn forget(&mut self) {
        for waiter in &mut self.waiting {
            waiter.admitted = None;
        }
    }

    fn judge(&self, id: &str, write: bool, record: &Record) -> Option<String> {
        let own = self.waiting.iter().find(|waiter| waiter.id == id);
        let came = own.map_or(u64::MAX, |waiter| waiter.came);
        let admitted = own.map_or(Some(false), |waiter| waiter.admitted);
        let overtaken = self.waiting.iter().find(|other| {
            let first = other.came < came;
            let turn = match (write, other.write) {
                (true, true) => first,
                (true, false) => first || other.admitted == Some(true),
                (false, true) => first && admitted == Some(false),
                (false, false) => false,
            };
            turn && other.id != id && record.waits(&other.id, other.write)
        })?;
        let mode = |write| if write { "writer" } else { "reader" };
        Some(format!(
            "{} {id} entered before {} {}",
            mode(write),
            mode(overtaken.write),
            overtaken.id
        ))
    }
}

impl Judges {
    /// The ids of those who wait in a lock's line, and the lock's time.
    pub(crate) fn waiters(&self, engine: &Engine, lock: usize) -> Vec<(String, u64)> {
        let record = Record::read(engine, lock).map(|(_, record)| record);
        let record = record.unwrap_or_default();
        let places = record.writers.values().chain(record.readers.values());
        places.map(|(id, _)| (id.clone(), record.now)).collect()
    }

    /// A request was carried out.
    pub(crate) fn look_at_lines(&self, engine: &Engine, request: &[u8]) {
        self.notice_deposed(engine);
        let mut order = self.order.borrow_mut();
        let order = &mut *order;
        for (lock, alone) in order.about(request) {
            order.looks += 1;
            let read = Record::read(engine, lock);
            if let Some(read) = &read {
                self.look_at_expiry(engine, lock, read);
            }
            let record = read.map(|(_, record)| record).unwrap_or_default();
            let revived = order.locks[lock].revived(&record);
            if let Some(revived) = revived
                && !self.excuses.borrow().is_set_back()
            {
                self.object("leases", engine.now(), format!("lock {lock}: {revived}"));
            }
            let wrong = order.locks[lock].change(&record, order.looks);
            let certain = alone && self.is_calm(engine.now(), CALM);
            if !certain {
                order.locks[lock].forget();
            } else if let Some(wrong) = wrong {
                self.object("order", engine.now(), format!("lock {lock}: {wrong}"));
            }
        }
    }
}
