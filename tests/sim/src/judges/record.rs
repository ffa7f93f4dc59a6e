//! A lock's record on its server, read as `common/record.lua` describes it.

use std::collections::BTreeMap;

use super::excuses::slot_of;
use crate::engine::Engine;
use crate::plan::Setup;
use crate::server::NodeId;

/// Who holds and who waits, as recorded; of those who are over some are left out.
#[derive(Debug, Default, Clone)]
pub(super) struct Record {
    /// By id: whether it writes, until when (server's time, us), and its owner.
    pub(super) holds: BTreeMap<String, Holding>,
    /// By place: the id, and until when; 0 for those who have not heard.
    pub(super) writers: BTreeMap<u64, (String, u64)>,
    pub(super) readers: BTreeMap<u64, (String, u64)>,
    /// The lock's time.
    pub(super) now: u64,
    /// Whether the key expires at all.
    pub(super) expires: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Holding {
    pub(super) write: bool,
    pub(super) until: u64,
    pub(super) owned: bool,
    pub(super) token: u64,
}

/// The key of a lock.
pub(crate) fn key_of(lock: usize) -> String {
    let name = Setup::lock(lock);
    if name.starts_with('{') {
        format!("dlock:{name}")
    } else {
        format!("dlock:{{{name}}}")
    }
}

impl Record {
    /// Reads the record of a lock where its slot's master has it.
    pub(super) fn read(engine: &Engine, lock: usize) -> Option<(NodeId, Self)> {
        let node = engine.fleet(|fleet| fleet.owner(slot_of(lock)));
        Some((node, Self::at(engine, node, lock)?))
    }

    /// The same at a certain server.
    pub(super) fn at(engine: &Engine, node: NodeId, lock: usize) -> Option<Self> {
        let key = key_of(lock);
        let now = engine.time();
        let (fields, micros, expires) = engine.fleet(|fleet| {
            (
                fleet.lock_hash(node, key.as_bytes()),
                fleet.server_micros(now, node),
                fleet.expires_at(node, key.as_bytes()),
            )
        });
        let mut record = Self {
            expires: expires != Some(None),
            ..Self::default()
        };
        let expired = matches!(expires, Some(Some(at)) if at * 1000 <= micros);
        let fields = if expired { None } else { fields };
        let fields: BTreeMap<String, String> = fields?
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(field, value)| (text(field), text(value)))
            .collect();
        let number = |field: &str| fields.get(field).and_then(|value| value.parse().ok());
        let last: u64 = number("t").unwrap_or(0);
        record.now = (micros + number("o").unwrap_or(0)).max(last);
        for (field, value) in &fields {
            record.add(field, value, last);
        }
        Some(record)
    }

    fn add(&mut self, field: &str, value: &str, last: u64) {
        let mut words = value.split(' ');
        if let Some(id) = field.strip_prefix('=') {
            let (write, left, owned) = match value.parse::<u64>() {
                Ok(ms) => (true, ms.saturating_sub(1001) * 1000, false),
                Err(_) => (
                    words.next() == Some("w"),
                    words.next().and_then(|left| left.parse().ok()).unwrap_or(0),
                    words.next().is_some_and(|owner| !owner.is_empty()),
                ),
            };
            let until = last + left;
            self.holds.insert(
                id.to_owned(),
                Holding {
                    write,
                    until,
                    owned,
                    token: last,
                },
            );
        } else if let Some(id) = field.strip_prefix('+') {
            let write = words.next() == Some("w");
            let until = words.next().and_then(|at| at.parse().ok()).unwrap_or(0);
            let token = words.next().and_then(|token| token.parse().ok()).unwrap_or(0);
            let owned = words.nth(1).is_some_and(|owner| !owner.is_empty());
            self.holds.insert(
                id.to_owned(),
                Holding {
                    write,
                    until,
                    owned,
                    token,
                },
            );
        } else if let (Some(line), Ok(place)) = (
            field.get(..1).filter(|line| ["W", "R"].contains(line)),
            field.get(1..).unwrap_or("").parse(),
        ) {
            let id = words.next().unwrap_or("").to_owned();
            let until = words.next().and_then(|at| at.parse().ok()).unwrap_or(0);
            let until = if words.nth(1) == Some("2") { 0 } else { until };
            let line = if line == "W" {
                &mut self.writers
            } else {
                &mut self.readers
            };
            line.insert(place, (id, until));
        }
    }

    /// Whether somebody has a place that counts.
    pub(super) fn waits(&self, id: &str, write: bool) -> bool {
        let line = if write { &self.writers } else { &self.readers };
        line.values()
            .any(|(who, until)| who == id && *until > self.now)
    }

    /// Whether anybody has it now.
    pub(super) fn is_held(&self) -> bool {
        self.holds.values().any(|hold| hold.until > self.now)
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}
