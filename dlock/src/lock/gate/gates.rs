//! All gates of a client, by full lock name.

use std::collections::hash_map::Entry as MapEntry;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::line::{Line, Terms};
use super::{Lead, Queued};
use crate::client::Inner;
use crate::error::Error;
use crate::key::LockKey;
use crate::key_map::KeyMap;
use crate::lock::hold::Hold;
use crate::lock::holding::Holding;
use crate::lock::shared_hold::SharedHold;
use crate::mode::Mode;

/// Enough that tasks on different locks seldom meet; each lock has a line of its own whatever
/// shard it falls into.
const SHARDS: usize = 32;

type Shard = KeyMap<Line>;

/// What a task finds at the gate.
pub(in crate::lock) enum Entry {
    /// A hold to share.
    Granted(Holding),
    /// Nobody to wait for locally: ask the server.
    Lead(Lead),
    /// Somebody to wait for.
    Queued(Queued),
    /// A local writer, and no wish to wait.
    Busy,
    /// Others who ask or wait, and no wish to wait: only the server knows.
    Alone,
    /// The client was shut down.
    Closed,
}

/// Local lines for every lock in use.
pub(crate) struct Gates {
    shards: [Mutex<Shard>; SHARDS],
}

impl Gates {
    pub(crate) fn new() -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
        }
    }

    fn shard(&self, key: &LockKey) -> MutexGuard<'_, Shard> {
        // Bits that the map inside does not go by first.
        let index = usize::try_from((key.hash() >> 32) % SHARDS as u64).unwrap_or(0);
        self.shards[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::lock) fn enter(
        &self,
        inner: &Arc<Inner>,
        key: &LockKey,
        terms: Terms,
        may_wait: bool,
    ) -> Entry {
        let mut lines = self.shard(key);
        // Seen under the lock, so that `close` turns away whoever still got in.
        if inner.is_closed() {
            return Entry::Closed;
        }
        let line = match lines.entry(key.clone()) {
            MapEntry::Vacant(vacant) => {
                vacant.insert(Line::default()).led = true;
                return Entry::Lead(Lead::new(inner, key, None));
            }
            MapEntry::Occupied(occupied) => occupied.into_mut(),
        };
        if line.led || !line.nobody_waits() {
            return Self::wait_or_leave(line, inner, key, terms, may_wait);
        }
        match &line.current {
            Some((shared, held)) if *held == terms && held.shareable() && shared.is_healthy() => {
                shared.add_user();
                let token = shared.hold.last_token();
                let holding = Holding::new(Arc::clone(inner), Arc::clone(shared), token);
                if shared.slice_is_open() {
                    Entry::Granted(holding)
                } else {
                    line.led = true;
                    Entry::Lead(Lead::new(inner, key, Some(holding)))
                }
            }
            // Behind local readers: take a place on the server now.
            Some((_, held)) if held.mode == Mode::Read => {
                line.led = true;
                Entry::Lead(Lead::new(inner, key, None))
            }
            _ => Self::wait_or_leave(line, inner, key, terms, may_wait),
        }
    }

    fn wait_or_leave(
        line: &mut Line,
        inner: &Arc<Inner>,
        key: &LockKey,
        terms: Terms,
        may_wait: bool,
    ) -> Entry {
        if !may_wait {
            let writing = (line.current.as_ref()).is_some_and(|(_, held)| held.mode == Mode::Write);
            return if writing { Entry::Busy } else { Entry::Alone };
        }
        let (ticket, turn) = line.push(terms);
        Entry::Queued(Queued::new(inner, key, ticket, turn))
    }

    /// A guard is done with its hold; whether the hold must now go back to the server.
    pub(in crate::lock) fn leave(&self, inner: &Arc<Inner>, shared: &Arc<SharedHold>) -> bool {
        let key = &shared.hold.key;
        let mut lines = self.shard(key);
        if !shared.remove_user() {
            return false;
        }
        let Some(line) = lines.get_mut(key) else {
            return true;
        };
        let is_current = line
            .current
            .as_ref()
            .is_some_and(|(current, _)| Arc::ptr_eq(current, shared));
        if !is_current {
            return true;
        }
        if line.pass_on(inner) {
            return false;
        }
        line.appoint(inner, key);
        if line.is_idle() {
            lines.remove(key);
        }
        true
    }

    /// The server granted a hold to the task that asked.
    pub(super) fn granted(inner: Arc<Inner>, hold: Arc<Hold>, terms: Terms) -> Holding {
        let token = hold.last_token();
        let shared = SharedHold::new(hold, true);
        inner.gates.carry_on(&inner, &shared, terms);
        Holding::new(inner, shared, token)
    }

    /// The asking is over, and this hold is the one to join or take over from now on.
    pub(super) fn carry_on(&self, inner: &Arc<Inner>, shared: &Arc<SharedHold>, terms: Terms) {
        let key = &shared.hold.key;
        let mut lines = self.shard(key);
        // A line that somebody leads is never taken away.
        let Some(line) = lines.get_mut(key) else {
            return;
        };
        line.led = false;
        line.current = Some((Arc::clone(shared), terms));
        line.admit_readers(inner);
        line.appoint(inner, key);
    }

    /// The asking is over without a hold.
    pub(super) fn gave_up(&self, inner: &Arc<Inner>, key: &LockKey, error: Option<&Error>) {
        let mut lines = self.shard(key);
        let Some(line) = lines.get_mut(key) else {
            return;
        };
        line.led = false;
        if let Some(error) = error {
            line.fail_all(error);
        }
        line.appoint(inner, key);
        if line.is_idle() {
            lines.remove(key);
        }
    }

    /// A hold was lost under whoever still has a guard: nobody waits for that one any more.
    pub(crate) fn lost(&self, inner: &Arc<Inner>, hold: &Arc<Hold>) {
        let mut lines = self.shard(&hold.key);
        let Some(line) = lines.get_mut(&hold.key) else {
            return;
        };
        if (line.current.as_ref()).is_some_and(|(shared, _)| Arc::ptr_eq(&shared.hold, hold)) {
            line.current = None;
            line.appoint(inner, &hold.key);
            if line.is_idle() {
                lines.remove(&hold.key);
            }
        }
    }

    /// Turns away everybody who waits, at a shutdown.
    pub(crate) fn close(&self) {
        for shard in &self.shards {
            let mut lines = shard.lock().unwrap_or_else(PoisonError::into_inner);
            lines.retain(|_, line| {
                line.fail_all(&Error::closed());
                !line.is_idle()
            });
        }
    }

    /// A waiting task went away.
    pub(super) fn cancel(&self, key: &LockKey, ticket: u64) {
        if let Some(line) = self.shard(key).get_mut(key) {
            line.remove(ticket);
        }
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gates").finish_non_exhaustive()
    }
}
