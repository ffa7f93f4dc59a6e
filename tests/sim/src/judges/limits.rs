//! Times that a holder is bound to: `max_hold`, the next renewal after a loss, and the lease after its process has died.

use std::collections::BTreeMap;

use super::Judges;
use super::belief::Belief;
use super::home::process_of;
use super::record::Record;
use crate::engine::{Engine, MS, Nanos, ProcId, SECOND};

/// For how long a master of a cluster that was started again refuses, at most.
const REJOIN: Nanos = 5 * SECOND;

/// How late a holder may notice anything: a renewal is answered by then, also if packets are lost.
const LATE: Nanos = 500 * MS;
const LATE_IF_LOSSY: Nanos = 1500 * MS;

/// How late a dead holder's lock may be free. One that was handed over lasts as long as a place at least.
const FREED: Nanos = SECOND + LATE;
const PLACE: Nanos = 3 * SECOND;

/// What a process that died had of a lock, and until when that may stay.
#[derive(Debug)]
pub(super) struct Dead {
    lock: usize,
    id: String,
    until: Nanos,
}

impl Judges {
    /// Holds are looked at again and again.
    pub(crate) fn look_at_limits(&self, engine: &Engine) {
        let lossy = self.idle.borrow().is_lossy();
        let late = if lossy { LATE_IF_LOSSY } else { LATE };
        self.look_at_dead(engine);
        let mut beliefs = self.beliefs.borrow_mut();
        for (belief, missing) in beliefs.all_mut() {
            let Some(guard) = belief.guard.upgrade() else {
                continue;
            };
            if !engine.runs(belief.of) || self.others.borrow().are(belief.of) {
                *missing = None;
                continue;
            }
            let now = engine.now();
            let knows = || engine.acting(belief.of, || guard.is_lost());
            let ran = |since: Nanos| engine.runs_since(belief.of) <= since;
            if let Some(limit) = belief.max_hold
                && now > belief.since + limit + limit / 100 + late
                && ran(belief.since)
                && !knows()
            {
                let story = format!("{} holds beyond its limit", belief.name());
                self.object("max_hold", now, story);
            }
            if self.is_quorum() || guard.is_one_of_several() || self.is_recorded(engine, belief) {
                *missing = None;
                continue;
            }
            let since = *missing.get_or_insert(now);
            let long = belief.lease / 3 + belief.lease / 100 + late;
            if now > since + long && ran(since) && self.is_unharmed(now, long + REJOIN) && !knows()
            {
                let story = format!(
                    "{} has not noticed for {} ms that its hold is gone",
                    belief.name(),
                    (now - since) / MS
                );
                self.object("losses", now, story);
            }
        }
    }

    /// Whether a server has a hold of this process that lasts.
    fn is_recorded(&self, engine: &Engine, belief: &Belief) -> bool {
        self.homes[belief.lock].any(engine, |record: &Record<'_>| {
            let mut holds = record.holds.iter();
            holds.any(|(id, hold)| process_of(id) == Some(belief.of) && hold.until > record.now)
        })
    }

    /// Whether a hold that is lost has come to the end that its user set.
    pub(super) fn is_at_its_limit(belief: &Belief, now: Nanos) -> bool {
        let limit = belief.max_hold;
        limit.is_some_and(|limit| now + limit / 50 + LATE >= belief.since + limit)
    }

    /// A process has died: what it has is free after its lease, whatever servers' clocks do meanwhile.
    pub(crate) fn has_died(&self, engine: &Engine, of: ProcId, lease: Nanos) {
        if !self.demands.frees_in_time {
            return;
        }
        let lease = lease.max(PLACE);
        let until = engine.now() + lease + lease / 100 + FREED;
        let mut dead = self.dead.borrow_mut();
        for (lock, home) in self.homes.iter().enumerate() {
            home.look(engine, |found| {
                let holds = found.map(|(_, record)| record.holds).unwrap_or_default();
                let own = holds.iter().filter(|(id, _)| process_of(id) == Some(of));
                dead.extend(own.map(|(id, _)| Dead {
                    lock,
                    id: (*id).to_owned(),
                    until,
                }));
            });
        }
    }

    fn look_at_dead(&self, engine: &Engine) {
        let now = engine.now();
        self.dead.borrow_mut().retain(|dead| {
            let has = self.homes[dead.lock].look(engine, |found| {
                let hold = found.as_ref().and_then(|(_, record)| record.hold(&dead.id));
                hold.is_some()
            });
            // The end of a mutex is an absolute time of the server's clock.
            let later = self.homes[dead.lock].is_mutex() && self.excuses.borrow().is_set_back();
            if has && !later && now > dead.until && self.is_wanted(engine, dead.lock) {
                let (id, lock) = (&dead.id, dead.lock);
                let story = format!("{id} has died and still has lock {lock}, after its lease");
                self.object("crash", now, story);
            }
            has
        });
    }

    /// A lock is remembered for as long as its holds last.
    ///
    /// The end of a hold is a time of the server that wrote it. The expiry of the key is a time of the server that has it.
    /// If the key has come from another server, whose clock is ahead, the two cannot be compared. So the key must also
    /// expire before the lease has passed.
    pub(super) fn look_at_key(&self, engine: &Engine, lock: usize, record: &Record<'_>) {
        if record.is_mutex {
            return;
        }
        let now = engine.now();
        let mut leases = self.leases.borrow_mut();
        let leases = &mut leases[lock];
        leases.see(now, record);
        let forgotten = record.life.map_or(Nanos::MAX, |life| now + life * 1000);
        if let Some(id) = record.outlive_it().find(|id| leases.end(id) > forgotten) {
            let story = format!("lock {lock} is forgotten before the hold of {id} ends");
            self.object("expiry", now, story);
        }
    }
}

/// When the leases of a lock's holds have passed, by virtual time.
#[derive(Debug, Default)]
pub(super) struct Leases {
    /// By id: the end that is recorded, and when that is by virtual time, as the record said when it was first seen there.
    ends: BTreeMap<String, (u64, Nanos)>,
}

impl Leases {
    fn see(&mut self, now: Nanos, record: &Record<'_>) {
        for (id, hold) in &record.holds {
            let end = || {
                let left = hold.until.saturating_sub(record.now);
                (hold.until, now + left * 1000)
            };
            match self.ends.get_mut(*id) {
                Some(known) if known.0 == hold.until => {}
                Some(known) => *known = end(),
                None => {
                    self.ends.insert((*id).to_owned(), end());
                }
            }
        }
    }

    fn end(&self, id: &str) -> Nanos {
        self.ends.get(id).map_or(0, |end| end.1)
    }
}
