//! A lock's record on its server, read as `common/record.lua` describes it.

use crate::server::{Fleet, NodeId};

/// The holders and the waiters, as recorded; of those who are over some are left out.
#[derive(Debug, Default)]
pub(super) struct Record<'f> {
    /// By id.
    pub(super) holds: Vec<(&'f str, Holding)>,
    /// By place.
    pub(super) writers: Vec<Place<'f>>,
    pub(super) readers: Vec<Place<'f>>,
    /// The lock's time, and its last token.
    pub(super) now: u64,
    pub(super) last: u64,
    /// Whether the keys expire at all, when the hash does, by the lock's time, and in how long, by the server's clock (us).
    pub(super) expires: bool,
    pub(super) kept: Option<u64>,
    pub(super) life: Option<u64>,
    /// The holds that do not last longer from now on.
    pub(super) ended: Vec<&'f str>,
    /// Until when a mutex is left free for those who have no dlock; 0 if it is not.
    pub(super) free: u64,
    pub(super) is_mutex: bool,
}

/// A hold: whether it writes, until when (server's time, us), whether it has an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Holding {
    pub(super) write: bool,
    pub(super) until: u64,
    pub(super) owned: bool,
    pub(super) token: u64,
    /// Whether it was given its end.
    pub(super) ended: bool,
}

/// A place in a line, whose it is, and until when; 0 for those who have not heard.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'f> {
    number: u64,
    pub(super) id: &'f str,
    pub(super) until: u64,
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn number(text: Option<&str>) -> Option<u64> {
    text.and_then(|text| text.parse().ok())
}

impl<'f> Record<'f> {
    /// Reads a hash.
    pub(super) fn read(fleet: &'f Fleet, node: NodeId, key: &[u8], micros: u64) -> Option<Self> {
        let expires = fleet.expires_at(node, key)?;
        if expires.is_some_and(|at| at * 1000 <= micros) {
            return None;
        }
        let field = |name: &[u8]| number(fleet.lock_field(node, key, name).map(text));
        let (last, noted) = (field(b"t").unwrap_or(0), field(b"n").unwrap_or(0));
        let ahead = fleet.lock_field(node, key, b"o").map_or("0", text);
        let (offset, shift) = ahead.split_once(' ').unwrap_or((ahead, "0"));
        let (offset, shift) = (number(Some(offset)).unwrap_or(0), number(Some(shift)));
        let mut record = Self {
            expires: expires.is_some(),
            last,
            kept: expires.map(|at| at * 1000 + offset),
            life: expires.map(|at| (at * 1000).saturating_sub(micros)),
            now: (micros + offset).max(last).max(noted),
            ..Self::default()
        };
        for (field, value) in fleet.lock_fields(node, key)? {
            if !value.is_empty() {
                record.add(text(field), text(value), last, (micros, shift.unwrap_or(0)));
            }
        }
        for (id, hold) in &mut record.holds {
            hold.ended = record.ended.contains(id);
        }
        record.holds.sort_unstable_by_key(|hold| hold.0);
        record.writers.sort_unstable_by_key(|place| place.number);
        record.readers.sort_unstable_by_key(|place| place.number);
        Some(record)
    }

    /// `shift` is added to the deadlines of holds.
    fn add(&mut self, field: &'f str, value: &'f str, last: u64, (micros, shift): (u64, u64)) {
        let mut words = value.split(' ');
        if let Some(id) = field.strip_prefix('=') {
            let (write, left, noted, owned) = match value.parse::<u64>() {
                Ok(ms) => (true, ms.saturating_sub(1001) * 1000, 0, false),
                Err(_) => (
                    words.next() == Some("w"),
                    number(words.next()).unwrap_or(0),
                    number(words.next()).unwrap_or(0),
                    words.next().is_some_and(|owner| !owner.is_empty()),
                ),
            };
            self.now = self.now.max(last + noted);
            let hold = Holding {
                write,
                until: last + left,
                owned,
                token: last,
                ended: false,
            };
            self.holds.push((id, hold));
        } else if let Some(id) = field.strip_prefix('+') {
            let hold = Holding {
                write: words.next() == Some("w"),
                until: number(words.next()).unwrap_or(0) + shift,
                token: number(words.next()).unwrap_or(0),
                owned: words.nth(1).is_some_and(|owner| !owner.is_empty()),
                ended: false,
            };
            self.holds.push((id, hold));
        } else if let Some(id) = field.strip_prefix('-') {
            if number(Some(value)).is_some_and(|until| until > micros) {
                self.ended.push(id);
            }
        } else if field == "q" {
            self.free = number(Some(value)).unwrap_or(0);
        } else if let (Some(line @ ("W" | "R")), Some(place)) =
            (field.get(..1), number(field.get(1..)))
        {
            let id = words.next().unwrap_or("");
            let until = number(words.next()).unwrap_or(0);
            let place = Place {
                number: place,
                id,
                until: if words.nth(1) == Some("2") { 0 } else { until },
            };
            let line = if line == "W" {
                &mut self.writers
            } else {
                &mut self.readers
            };
            line.push(place);
        }
    }

    /// All clients with a place, and whether they wait to write.
    pub(super) fn places(&self) -> impl Iterator<Item = (&Place<'f>, bool)> {
        let writers = self.writers.iter().map(|place| (place, true));
        writers.chain(self.readers.iter().map(|place| (place, false)))
    }

    /// The hold with this id.
    pub(super) fn hold(&self, id: &str) -> Option<&Holding> {
        let found = self.holds.iter().find(|hold| hold.0 == id);
        found.map(|hold| &hold.1)
    }

    /// Whether a hold was given its end.
    pub(super) fn is_ended(&self, id: &str) -> bool {
        self.ended.contains(&id)
    }

    /// The holds that last longer than the hash that they stand in, by the lock's time.
    pub(super) fn outlive_it(&self) -> impl Iterator<Item = &'f str> {
        let kept = self.kept.unwrap_or(u64::MAX);
        let holds = self.holds.iter();
        let outlive = holds.filter(move |(_, hold)| hold.until > self.now.max(kept));
        outlive.map(|hold| hold.0)
    }

    /// Whether a client has a place that counts.
    pub(super) fn waits(&self, id: &str, write: bool) -> bool {
        let line = if write { &self.writers } else { &self.readers };
        line.iter()
            .any(|place| place.id == id && place.until > self.now)
    }

    /// Whether a client has a place that was passed over.
    pub(super) fn is_deaf(&self, id: &str) -> bool {
        let mut places = self.places();
        places.any(|(place, _)| place.id == id && place.until == 0)
    }

    /// Whether a client writes or waits to write.
    pub(super) fn is_wanted_to_write(&self) -> bool {
        let mut holds = self.holds.iter();
        holds.any(|hold| hold.1.write && hold.1.until > self.now)
            || self.writers.iter().any(|place| place.until > self.now)
    }

    /// Whether a client has it now.
    pub(super) fn is_held(&self) -> bool {
        self.holds.iter().any(|hold| hold.1.until > self.now)
    }
}
