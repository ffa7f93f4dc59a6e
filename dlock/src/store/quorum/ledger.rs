//! Which members may have recorded a hold of this client.

use std::sync::Arc;
use std::time::Duration;

use super::members::Members;
use crate::clock::BootInstant;
use crate::kind::LockMode;
use crate::protocol::{HoldId, Op};
use crate::random::HashMap;
use crate::sync::Mutex;
use crate::token::ServerToken;

/// From how many entries on outdated ones are removed.
const CROWD: usize = 64;

/// A hold of this client, or an attempt.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) mode: LockMode,
    pub(super) lease: Duration,
    pub(super) owner: Option<Arc<str>>,
    /// The token it was handed out with; none while it is an attempt.
    pub(super) token: Option<ServerToken>,
    /// The members to which an acquire was sent, without those that have refused it.
    pub(super) asked: Members,
    /// The asked members where the acquire, or a delayed duplicate of it, may still arrive.
    pub(super) open: Members,
    /// The asked members that were sent another acquire before they answered the first: an answer to one says nothing about the
    /// other.
    doubtful: Members,
    /// The asked members whose answer the attempt still waits for. It undoes a grant that arrives after the end.
    awaited: Members,
    /// The members that have released the hold.
    pub(super) freed: Members,
    /// Whether it is being released.
    pub(super) ended: bool,
    /// Whether the awaited members were sent a plain release, without a tombstone.
    relies: bool,
    /// When the entry can be dropped.
    until: BootInstant,
}

impl Entry {
    pub(super) fn new(mode: LockMode, lease: Duration, owner: Option<Arc<str>>) -> Self {
        Self {
            mode,
            lease,
            owner,
            token: None,
            asked: Members::default(),
            open: Members::default(),
            doubtful: Members::default(),
            awaited: Members::default(),
            freed: Members::default(),
            ended: false,
            relies: false,
            until: BootInstant::from_nanos(0),
        }
    }

    /// Whether one acquire is on its way to a member, and the attempt sees to what becomes of it.
    pub(super) fn is_ahead_at(&self, member: usize) -> bool {
        self.open.has(member) && self.awaited.has(member) && !self.doubtful.has(member)
    }

    fn ask(&mut self, member: usize) {
        if self.open.has(member) {
            self.doubtful.put(member);
        }
        self.asked.put(member);
        self.open.put(member);
    }

    fn ask_all(&mut self, members: Members) {
        for member in members.iter() {
            self.ask(member);
            self.awaited.put(member);
        }
    }
}

/// The holds of this client, for as long as they may be recorded anywhere. A request is noted before it is sent.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    entries: Mutex<HashMap<HoldId, Entry>>,
}

impl Ledger {
    /// An attempt begins.
    pub(super) fn begin(&self, id: &HoldId, mut entry: Entry, now: BootInstant) {
        entry.until = now + 2 * entry.lease;
        let mut entries = self.entries.lock();
        if entries.len() >= CROWD && entries.len() == entries.capacity() {
            // Entries of holds that were lost and never released.
            entries.retain(|_, entry| entry.until > now);
        }
        entries.insert(id.clone(), entry);
    }

    /// An attempt asks these.
    pub(super) fn ask(&self, id: &HoldId, members: Members) {
        if let Some(entry) = self.entries.lock().get_mut(id) {
            entry.ask_all(members);
        }
    }

    /// A member has answered the acquire; `settled` if no copy of it can come.
    pub(super) fn answered(&self, id: &HoldId, member: usize, granted: bool, settled: bool) {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(id) else {
            return;
        };
        if entry.doubtful.has(member) {
            return;
        }
        entry.awaited.take(member);
        if settled {
            entry.open.take(member);
            if !granted {
                entry.asked.take(member);
            }
        }
    }

    /// The attempt will hear no more of what may still arrive at a member. Whether that was relied upon when the hold was
    /// given back; otherwise it has been seen to, or its end will do so.
    pub(super) fn unheard(&self, id: &HoldId, member: usize) -> bool {
        match self.entries.lock().get_mut(id) {
            Some(entry) if entry.ended => entry.relies,
            Some(entry) => {
                entry.awaited.take(member);
                false
            }
            None => true,
        }
    }

    /// The attempt has won.
    pub(super) fn won(&self, id: &HoldId, token: ServerToken) {
        if let Some(entry) = self.entries.lock().get_mut(id) {
            entry.token = Some(token);
        }
    }

    pub(super) fn get(&self, id: &HoldId) -> Option<Entry> {
        self.entries.lock().get(id).cloned()
    }

    /// The hold has been renewed: it will matter for longer. Whether it is still one.
    pub(super) fn extend(&self, id: &HoldId, now: BootInstant) -> bool {
        let mut entries = self.entries.lock();
        let entry = entries.get_mut(id);
        entry
            .map(|entry| entry.until = now + 2 * entry.lease)
            .is_some()
    }

    /// A member without the hold is asked to record it; the hold, if it is still one.
    pub(super) fn ask_again(&self, id: &HoldId, member: usize) -> Option<Entry> {
        let mut entries = self.entries.lock();
        let entry = entries.get_mut(id).filter(|entry| !entry.ended)?;
        entry.ask(member);
        Some(entry.clone())
    }

    /// The members that have certainly granted a lost attempt: they are sent its end now.
    pub(super) fn take_granted(&self, id: &HoldId) -> Members {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(id) else {
            return Members::default();
        };
        let granted = entry.asked.without(entry.open);
        entry.asked = entry.open;
        granted
    }

    /// The end of a hold, or of an attempt.
    pub(super) fn end(&self, id: &HoldId) -> Option<Entry> {
        self.entries.lock().remove(id)
    }

    /// Ends a hold with a tombstone for an acquire that may still arrive.
    pub(super) fn end_noted(&self, id: &HoldId) -> Option<Entry> {
        let mut entries = self.entries.lock();
        let entry = entries.get_mut(id)?;
        let known = entry.clone();
        if entry.awaited.count() == 0 {
            entries.remove(id);
        } else {
            entry.ended = true;
        }
        Some(known)
    }

    /// Too few members have released the hold: the caller will try again.
    pub(super) fn end_later(&self, id: &HoldId, mut entry: Entry, relies: bool) {
        entry.ended = true;
        entry.relies |= relies;
        self.entries.lock().insert(id.clone(), entry);
    }

    /// Whether attempts are under way, or their undoing.
    pub(super) fn has_attempts(&self) -> bool {
        let entries = self.entries.lock();
        let mut entries = entries.values();
        entries.any(|entry| entry.token.is_none() && !entry.ended)
    }
}

/// The request to each member. Members keep no line: the first waiter at one member is not the first at another.
pub(super) fn acquire(id: &HoldId, entry: &Entry) -> Op {
    Op::Acquire {
        hold: id.clone(),
        mode: entry.mode,
        lease: entry.lease,
        owner: entry.owner.clone(),
        place: None,
    }
}
