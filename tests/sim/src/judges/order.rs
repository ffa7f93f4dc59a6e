//! The line: first come, first served, and readers and writers take turns. Judged by what is recorded after each request,
//! with an order of arrival of our own:
//!
//! * a writer enters before no writer who came earlier, and before no reader who came earlier or has waited since an
//!   earlier write hold ended;
//! * a reader enters before a writer who came earlier only if a write hold has ended since the reader came.
//!
//! Only waiters count whose places have never run out, and who have not failed to hear. Owners who have the lock already go
//! past the line. Judged while no fault is at work.

use super::Judges;
use super::home::{Home, is_foreign};
use super::record::{Holding, Record};
use crate::engine::{Engine, ProcId, SECOND};
use crate::server::NodeId;

/// How long after a fault the line is judged again: places of the dead are over by then.
const CALM: u64 = 6 * SECOND;

/// The end of a string is a whole millisecond (us).
const ROUNDED: u64 = 2_000;

/// How long after a silence those who waited before have made sure of their places.
const SURE: u64 = 3 * SECOND / 2;

/// What has been seen of each lock.
#[derive(Debug)]
pub(super) struct Order {
    locks: Vec<Seen>,
    looks: u64,
    /// See [`Seen::strict`].
    strict: bool,
}

#[derive(Debug, Default)]
struct Seen {
    /// By id.
    holds: Vec<(String, Holding)>,
    /// In the order of arrival.
    waiting: Vec<Waiter>,
    /// Which server had the record.
    node: Option<NodeId>,
    /// Whether a waiter keeps its place also if that ran out while the server stood still. No task gives up waiting then.
    strict: bool,
}

#[derive(Debug)]
struct Waiter {
    id: String,
    write: bool,
    came: u64,
    /// Until when the place lasted when it was seen last.
    until: u64,
    /// Whether the place was over in between, so that it may have been made anew or have stayed where it was.
    lapsed: bool,
    /// Whether a write hold has ended since a reader came, so that its turn has come; nothing if that is not known.
    admitted: Option<bool>,
}

impl Order {
    pub(super) fn new(locks: usize, strict: bool) -> Self {
        let seen = || Seen {
            strict,
            ..Seen::default()
        };
        Self {
            strict,
            locks: (0..locks).map(|_| seen()).collect(),
            looks: 0,
        }
    }
}

impl Seen {
    /// Takes a new record in; what is wrong with the changes.
    fn change(&mut self, record: &Record<'_>, look: u64) -> Option<String> {
        let is_over = |id: &str| record.hold(id).is_none();
        if self
            .holds
            .iter()
            .any(|(id, hold)| hold.write && is_over(id))
        {
            for waiter in self.waiting.iter_mut().filter(|waiter| !waiter.write) {
                waiter.admitted = Some(true);
            }
        }
        let mut wrong = None;
        for (id, hold) in &record.holds {
            let is_new = !hold.owned && !self.holds.iter().any(|held| held.0 == *id);
            if is_new && wrong.is_none() && self.is_ordered(id, record) {
                wrong = self.judge(id, hold.write, record);
            }
        }
        let strict = self.strict;
        self.waiting.retain(|waiter| {
            strict && record.hold(&waiter.id).is_none()
                || record.places().any(|(place, _)| place.id == waiter.id)
        });
        for (place, write) in record.places() {
            if !self.waiting.iter().any(|waiter| waiter.id == place.id) {
                self.waiting.push(Waiter {
                    id: place.id.to_owned(),
                    write,
                    came: look,
                    until: place.until,
                    lapsed: false,
                    admitted: Some(false),
                });
            }
        }
        for waiter in &mut self.waiting {
            let place = record.places().find(|(place, _)| place.id == waiter.id);
            let Some((place, _)) = place else { continue };
            waiter.lapsed |= !strict && place.until > waiter.until && waiter.until <= record.now;
            waiter.until = place.until;
        }
        self.remember(record);
        wrong
    }

    /// Whether a task enters that was to wait for its turn. Any program may take a free mutex; among those who have dlock it
    /// is passed on.
    fn is_ordered(&self, id: &str, record: &Record<'_>) -> bool {
        let mut held = self.holds.iter();
        !record.is_mutex || !is_foreign(id) && held.any(|held| held.1.until > record.now)
    }

    fn remember(&mut self, record: &Record<'_>) {
        self.holds.truncate(record.holds.len());
        for (at, (id, hold)) in record.holds.iter().enumerate() {
            match self.holds.get_mut(at) {
                None => self.holds.push(((*id).to_owned(), *hold)),
                Some(seen) => {
                    if seen.0 != *id {
                        seen.0.clear();
                        seen.0.push_str(id);
                    }
                    seen.1 = *hold;
                }
            }
        }
    }

    /// A lease that was over and goes on.
    fn revived(&self, record: &Record<'_>) -> Option<String> {
        self.holds.iter().find_map(|(id, before)| {
            let now = record.hold(id).filter(|_| !record.is_mutex)?;
            let over = before.until <= record.now && now.until > before.until;
            (over && now.token == before.token)
                .then(|| format!("the lease of {id} was over, and goes on"))
        })
    }

    /// A hold that was given its end and lasts longer. Once it is over, a delayed duplicate of a mutex' `SET` may take the lock
    /// again, which is a new hold.
    fn prolonged(&self, record: &Record<'_>) -> Option<String> {
        self.holds.iter().find_map(|(id, before)| {
            let now = record.hold(id)?;
            let same = !record.is_mutex || before.until > record.now;
            (same && before.ended && now.until > before.until + ROUNDED)
                .then(|| format!("{id} was given its end, and lasts longer"))
        })
    }

    /// Another server may take over with an older record, in which waiters have another order, if a loss may be back.
    fn look_at_server(&mut self, node: Option<NodeId>, may_be_older: bool) {
        if may_be_older && node.is_some() && node != self.node {
            self.waiting.clear();
        }
        self.node = node.or(self.node);
    }

    /// More has happened than was seen.
    fn forget(&mut self) {
        for waiter in &mut self.waiting {
            waiter.admitted = None;
        }
    }

    fn judge(&self, id: &str, write: bool, record: &Record<'_>) -> Option<String> {
        let own = self.waiting.iter().find(|waiter| waiter.id == id);
        if own.is_some_and(|waiter| waiter.lapsed) {
            return None;
        }
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
            let waits = record.waits(&other.id, other.write);
            let kept = self.strict && !record.is_deaf(&other.id);
            turn && !other.lapsed && other.id != id && (waits || kept)
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
        self.homes[lock].look(engine, |found| {
            let record = found.map(|(_, record)| record).unwrap_or_default();
            let waiters = record
                .places()
                .map(|(place, _)| (place.id.to_owned(), record.now));
            waiters.collect()
        })
    }

    /// A request was carried out.
    pub(crate) fn look_at_lines(&self, engine: &Engine, of: ProcId, node: NodeId, request: &[u8]) {
        self.notice_deposed(engine);
        for (lock, home) in self.homes.iter().enumerate() {
            let count = home.count(request);
            if count > 0 {
                self.look_at_sender(engine, lock, of);
                if self.is_quorum() {
                    self.look_at_member(engine, lock, node);
                } else {
                    self.look_at_line(engine, lock, home, count == 1);
                }
            }
        }
    }

    /// Several requests were carried out at once.
    pub(crate) fn look_at_all_lines(&self, engine: &Engine) {
        if self.is_quorum() {
            return; // There are no lines.
        }
        for (lock, home) in self.homes.iter().enumerate() {
            self.look_at_line(engine, lock, home, false);
        }
    }

    /// A request about a lock was carried out; whether it can have done one thing only.
    fn look_at_line(&self, engine: &Engine, lock: usize, home: &Home, alone: bool) {
        let mut order = self.order.borrow_mut();
        order.looks += 1;
        let strict = order.strict;
        let number = order.looks;
        let seen = &mut order.locks[lock];
        home.look(engine, |found| {
            if let Some((node, record)) = &found {
                self.look_at_expiry(engine, lock, *node, record);
                let mut traffic = self.traffic.borrow_mut();
                traffic.note_record(engine.now(), lock, record);
                self.see_lingering(engine.now(), lock, record);
            }
            let node = found.as_ref().map(|(node, _)| *node);
            let record = found.map(|(_, record)| record).unwrap_or_default();
            // A server that takes over may not have heard of an earlier end (`min_hold`).
            let excuses = self.excuses.borrow();
            let may_go_on = excuses.is_set_back() || excuses.may_be_back(lock, engine.now());
            let revived = seen.revived(&record).or_else(|| seen.prolonged(&record));
            if let Some(revived) = revived.filter(|_| !may_go_on) {
                self.object("leases", engine.now(), format!("lock {lock}: {revived}"));
            }
            seen.look_at_server(node, may_go_on);
            let wrong = seen.change(&record, number);
            let calm = if strict { SURE } else { CALM };
            if !(alone && self.is_calm(engine.now(), calm)) {
                seen.forget();
            } else if let Some(wrong) = wrong {
                self.object("order", engine.now(), format!("lock {lock}: {wrong}"));
            }
        });
    }
}
