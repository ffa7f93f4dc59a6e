//! The gates of all locks of a client.

use std::collections::hash_map::Entry as MapEntry;
use std::fmt;
use std::sync::{Arc, Weak};

use tokio::sync::oneshot::{self, Sender};

use super::lead::Place;
use super::line::Line;
use super::line::{Admitted, AsHold, Left, Usage, Way};
use super::watch::{Restless, Watch};
use super::{Acquired, Lead, Share};
use crate::clock::BootInstant;
use crate::error::Error;
use crate::hold::{Hold, Keeper, OnLoss, Terms};
use crate::key::{KeyMap, LockKey};
use crate::kind::LockMode;
use crate::store::{Store, Timeouts};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::tasks::Place as Runtime;

/// Enough that tasks on different locks seldom meet; each lock has a line of its own whatever
/// shard it falls into. Models look at one lock, and the fewer steps they have, the more orders they find.
const SHARDS: usize = if cfg!(test) { 1 } else { 32 };

type Lines = KeyMap<Line<Arc<Hold>, Sender<Turn>>>;

/// What a task finds at the gate.
pub(in crate::lock) enum Entry {
    /// It goes on at once.
    Turn(Turn),
    /// The task has to wait for another one.
    Wait(Place),
    /// A local writer, and no wish to wait.
    Busy,
    /// Other tasks ask or wait, and this one does not want to wait: only the server knows.
    Alone,
}

/// How a task goes on.
#[derive(Debug)]
pub(in crate::lock) enum Turn {
    /// The lock is yours.
    Granted(Share),
    /// It is up to you to ask the server.
    Lead(Lead),
    /// No task can have the lock now.
    Failed(Error),
}

/// A gate for every lock in use. What a line decides is carried out after the mutex is free: a task that is
/// notified and has gone meanwhile drops what it got, which comes back here.
pub(in crate::lock) struct Gates {
    pub(super) shards: [Mutex<Lines>; SHARDS],
    pub(super) closed: AtomicBool,
    /// Whether holders may finish while no new task gets in.
    pub(super) draining: AtomicBool,
    /// Numbers of places. A new line must not repeat them: a task may still leave a place of the old one.
    pub(super) places: AtomicU64,
    pub(super) keeper: Arc<Keeper>,
    pub(super) restless: Restless,
}

impl AsHold for Arc<Hold> {
    fn is(&self, other: &Self) -> bool {
        Self::ptr_eq(self, other)
    }

    fn terms(&self) -> Terms {
        self.terms
    }

    fn is_healthy(&self, now: BootInstant) -> bool {
        Hold::is_healthy(self, now)
    }
}

impl Gates {
    /// Starts the keeper of the holds, which tells the gates of those that are lost.
    pub(in crate::lock) fn start(store: &Arc<Store>, timeouts: Timeouts) -> Arc<Self> {
        Arc::new_cyclic(|gates: &Weak<Self>| {
            let on_loss: Weak<dyn OnLoss> = gates.clone();
            Self {
                shards: std::array::from_fn(|_| Mutex::default()),
                closed: AtomicBool::new(false),
                draining: AtomicBool::new(false),
                places: AtomicU64::new(0),
                restless: Restless::default(),
                keeper: Arc::new(Keeper::start(Arc::clone(store), timeouts, on_loss)),
            }
        })
    }

    pub(in crate::lock) fn keeper(&self) -> &Arc<Keeper> {
        &self.keeper
    }

    pub(in crate::lock) fn are_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// A task wants the lock.
    pub(in crate::lock) fn enter(
        self: &Arc<Self>,
        key: &LockKey,
        terms: Terms,
        may_wait: bool,
    ) -> Entry {
        let mut lines = self.lines(key);
        // Seen under the mutex, so that `close` turns away every task that still got in.
        if self.are_closed() {
            return Entry::Turn(Turn::Failed(self.turned_away()));
        }
        let line = match lines.entry(key.clone()) {
            MapEntry::Occupied(line) => line.into_mut(),
            MapEntry::Vacant(vacant) => vacant.insert(Line::default()),
        };
        let hold = match line.enter(terms, may_wait, BootInstant::now) {
            Way::Join(hold) => {
                drop(lines);
                let token = hold.last_token();
                return Entry::Turn(Turn::Granted(Share::gated(self, hold, token)));
            }
            Way::TakeOver(hold) => {
                let token = match hold.terms.mode {
                    LockMode::Read => hold.last_token(),
                    LockMode::Write => hold.next_token(),
                };
                hold.end_to_linger();
                drop(lines);
                hold.metrics.reused();
                return Entry::Turn(Turn::Granted(Share::gated(self, hold, token)));
            }
            Way::Lead(hold) => hold,
            Way::Wait => {
                let (sender, turn) = oneshot::channel();
                let number = self.places.fetch_add(1, Ordering::Relaxed);
                line.place(number, terms, sender);
                return Entry::Wait(Place::new(self, key, number, turn));
            }
            Way::Busy => return Entry::Busy,
            Way::Alone => return Entry::Alone,
        };
        drop(lines);
        let share = hold.map(|hold| {
            // If it lingered, a task has it now, until it is given back or goes on.
            hold.end_to_linger();
            self.share_again(hold)
        });
        Entry::Turn(Turn::Lead(Lead::new(self, key, share)))
    }

    /// A task is done with its share of a hold; whether the hold must now go back to the server.
    pub(super) fn left(self: &Arc<Self>, hold: &Arc<Hold>) -> bool {
        let left = self.at(&hold.key, |line| {
            // Seen under the mutex, so that `close` finds what lingers.
            let left = line.left(hold, !self.are_closed(), BootInstant::now);
            if matches!(left, Left::Lingers) {
                hold.begin_to_linger();
            }
            left
        });
        let (waiter, now, slice_over) = match left {
            Some(Left::Stays | Left::Lingers) => return false,
            Some(Left::PassedOn(waiter, now)) => (waiter, now, false),
            Some(Left::SliceOver(waiter, now)) => (waiter, now, true),
            Some(Left::GoesBack(leader)) => {
                self.appoint(&hold.key, leader);
                return true;
            }
            None => return true,
        };
        let mut share = Share::gated(self, Arc::clone(hold), hold.next_token());
        share.free_since = now;
        let turn = if slice_over {
            Turn::Lead(Lead::new(self, &hold.key, Some(share)))
        } else {
            hold.restart_max_hold(now);
            Turn::Granted(share)
        };
        tell(waiter, turn);
        false
    }

    /// The server granted a hold to the leading task.
    pub(super) fn hold_granted(self: &Arc<Self>, acquired: Acquired) -> Share {
        let Acquired {
            hold,
            listening,
            queued,
        } = acquired;
        let (known, token) = (Arc::clone(&hold), hold.last_token());
        let share = Share::gated(self, hold, token);
        let hold = share.hold();
        let admitted = self.at(&hold.key, |line| {
            line.hold_granted(known, queued, hold.granted_at)
        });
        self.admit(hold, admitted);
        self.notice_loss(hold);
        if hold.lingering().is_some() {
            // The task that was granted the hold may end with its runtime, and the hold lingers on.
            Runtime::own().spawn(Watch::new(self, hold).run(listening));
        }
        share
    }

    /// The server lets the leading task go on with a hold.
    pub(super) fn slice_granted(self: &Arc<Self>, hold: &Arc<Hold>) {
        let now = BootInstant::now();
        let admitted = self.at(&hold.key, |line| line.slice_granted(hold, now));
        self.admit(hold, admitted);
        self.notice_loss(hold);
    }

    /// One that was lost before the line stood on it has been told in vain.
    fn notice_loss(self: &Arc<Self>, hold: &Arc<Hold>) {
        if !hold.is_live() {
            OnLoss::lost(Arc::clone(self), hold);
        }
    }

    /// The leading task ends without a hold.
    pub(super) fn gave_up(self: &Arc<Self>, key: &LockKey) {
        let leader = self.at(key, Line::gave_up).flatten();
        self.appoint(key, leader);
    }

    /// The leading task was refused, as the waiting tasks would be.
    pub(super) fn refused(&self, key: &LockKey, error: &Error) {
        for waiter in self.at(key, Line::refused).unwrap_or_default() {
            tell(waiter, Turn::Failed(error.clone()));
        }
    }

    /// Why no server serves the lock at the moment.
    pub(super) fn troubled(&self, key: &LockKey, trouble: Option<&Error>) {
        self.at(key, |line| line.set_trouble(trouble.cloned()));
    }

    /// Why no server serves the lock, if none does.
    pub(super) fn trouble(&self, key: &LockKey) -> Option<Error> {
        self.at(key, |line| line.trouble().cloned()).flatten()
    }

    /// A task in the line went away.
    pub(super) fn cancel(&self, key: &LockKey, place: u64) {
        self.at(key, |line| line.cancel(place));
    }

    /// The error for tasks that come too late.
    pub(in crate::lock) fn turned_away(&self) -> Error {
        if self.draining.load(Ordering::Acquire) {
            Error::draining()
        } else {
            Error::closed()
        }
    }

    /// Turns away all waiting tasks, and later ones.
    pub(in crate::lock) fn close(&self, draining: bool) {
        self.draining.store(draining, Ordering::Release);
        self.closed.store(true, Ordering::Release);
        let (mut waiting, mut lingering) = (Vec::new(), Vec::new());
        for shard in &self.shards {
            shard.lock().retain(|_, line| {
                waiting.append(&mut line.close());
                lingering.extend(line.drop_lingering());
                !line.is_idle()
            });
        }
        self.keeper.give_all_back(&lingering);
        for waiter in waiting {
            tell(waiter, Turn::Failed(self.turned_away()));
        }
    }

    /// Other clients want the lock. The last reference to the hold, if it lingers.
    pub(super) fn wanted(self: &Arc<Self>, hold: &Arc<Hold>) -> Option<Share> {
        let wanted = self.at(&hold.key, |line| line.wanted(hold)).flatten()?;
        hold.metrics.revoked();
        self.restless.asked(&hold.key, BootInstant::now());
        wanted.idle.map(|hold| self.share_again(hold))
    }

    /// How a hold that may linger is used; `None` if no new task can get it. The last reference, if it has lingered for as long as it may.
    pub(super) fn usage(self: &Arc<Self>, hold: &Arc<Hold>) -> Option<Usage<Share>> {
        let now = BootInstant::now();
        let usage = self.at(&hold.key, |line| line.usage(hold, now)).flatten()?;
        Some(match usage {
            Usage::Used { times, rest } => Usage::Used { times, rest },
            Usage::Over(hold) => Usage::Over(self.share_again(hold)),
        })
    }

    /// A reference with the last token of a hold: to go on with the hold, or to give it back.
    fn share_again(self: &Arc<Self>, hold: Arc<Hold>) -> Share {
        let token = hold.last_token();
        Share::gated(self, hold, token)
    }

    /// Whether holds of the lock may linger now.
    pub(in crate::lock) fn may_linger(&self, key: &LockKey) -> bool {
        self.restless.may_linger(key, BootInstant::now())
    }

    fn admit(self: &Arc<Self>, hold: &Arc<Hold>, admitted: Option<Admitted<Sender<Turn>>>) {
        let Some(admitted) = admitted else { return };
        for reader in admitted.readers {
            let share = Share::gated(self, Arc::clone(hold), hold.last_token());
            tell(reader, Turn::Granted(share));
        }
        self.appoint(&hold.key, admitted.leader);
    }

    fn appoint(self: &Arc<Self>, key: &LockKey, leader: Option<Sender<Turn>>) {
        if let Some(leader) = leader {
            tell(leader, Turn::Lead(Lead::new(self, key, None)));
        }
    }

    /// Looks at a lock's line, which lives while there is something in it.
    pub(super) fn at<T>(
        &self,
        key: &LockKey,
        event: impl FnOnce(&mut Line<Arc<Hold>, Sender<Turn>>) -> T,
    ) -> Option<T> {
        let mut lines = self.lines(key);
        let line = lines.get_mut(key)?;
        let decision = event(line);
        if line.is_idle() {
            lines.remove(key);
        }
        Some(decision)
    }

    fn lines(&self, key: &LockKey) -> MutexGuard<'_, Lines> {
        // Bits that the map inside does not go by first.
        let index = usize::try_from((key.hash() >> 32) % SHARDS as u64).unwrap_or(0);
        self.shards[index].lock()
    }
}

/// A task that has gone meanwhile drops what it is sent.
fn tell(waiter: Sender<Turn>, turn: Turn) {
    drop(waiter.send(turn));
}

impl OnLoss for Gates {
    fn lost(self: Arc<Self>, hold: &Arc<Hold>) {
        let leader = self.at(&hold.key, |line| line.lost(hold)).flatten();
        self.appoint(&hold.key, leader);
    }
}

impl Drop for Gates {
    fn drop(&mut self) {
        // Handles and guards are gone, so nothing is held any more but what lingers.
        let mut lingering = Vec::new();
        for shard in &self.shards {
            let mut lines = shard.lock();
            lingering.extend(lines.values_mut().filter_map(Line::drop_lingering));
        }
        self.keeper.give_all_back(&lingering);
        self.keeper.stop();
        self.keeper.see_off();
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gates").finish_non_exhaustive()
    }
}
