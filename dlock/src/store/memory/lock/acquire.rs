//! Taking the lock, and keeping it.

use std::sync::Arc;
use std::time::Duration;

use super::hold::Hold;
use super::line::{Ear, KEPT, Next, Post, Waiter};
use super::state::{Lock, Moment, after};
use crate::kind::LockMode;
use crate::protocol::{HoldId, Message, PlaceTerms, Reply};
use crate::token::ServerToken;

/// An acquire.
#[derive(Debug)]
pub(super) struct Ask<'a> {
    pub(super) id: &'a HoldId,
    pub(super) mode: LockMode,
    pub(super) owner: Option<&'a Arc<str>>,
    /// How long the hold would last.
    pub(super) lease: Duration,
    pub(super) place: Option<PlaceTerms>,
}

impl Lock {
    /// The holds of other owners decide. An owner that already holds re-enters past the line; all others follow the line.
    pub(super) fn acquire(&mut self, ask: &Ask<'_>, at: Moment, post: &mut Post<'_>) -> Reply {
        let now = at.now;
        let deadline = after(now, ask.lease);
        if let Some(hold) = self.holds.iter_mut().find(|hold| hold.id == *ask.id) {
            // Asked again, perhaps because the reply was lost: the same grant, extended.
            hold.deadline = hold.deadline.max(deadline);
            let token = hold.token;
            self.promise(deadline);
            return Reply::Granted(ServerToken::new(token));
        }
        if let Some(place) = ask.place {
            self.hears(ask.id, place, now);
        }

        let owner = ask.owner.map(AsRef::as_ref);
        let (mut held_until, mut reenters, mut reads) = (None, false, false);
        for hold in &self.holds {
            if !hold.is_of_another(owner) {
                reenters = true;
                reads |= hold.mode == LockMode::Read;
            } else if hold.mode == LockMode::Write || ask.mode == LockMode::Write {
                held_until = held_until.max(Some(hold.deadline));
            }
        }
        if held_until.is_some() && reads && ask.place.is_some() {
            // Two readers that each wait for the other to leave would wait for ever.
            return Reply::WouldDeadlock;
        }
        if held_until.is_none() && !reenters {
            held_until = self.line.keeps_out(ask.mode, ask.id);
        }
        match held_until {
            None => self.grant(ask, now, post),
            Some(until) => {
                let retry = Duration::from_micros(until - now);
                let reply = self.refuse(ask, now, retry);
                let queued = matches!(reply, Reply::Queued { .. });
                if queued && self.holds.is_empty() && self.rouse(ask.id, now, post) {
                    // Worth another look.
                    return Reply::Again;
                }
                self.ask_back(post);
                reply
            }
        }
    }

    /// Tells the processes that keep the lock for their next tasks that others want it.
    fn ask_back(&self, post: &mut Post<'_>) {
        if post.serves_who_enters() {
            for hold in self.holds.iter().filter(|hold| hold.id.lingers()) {
                post.tell(&Message::Look(hold.id.clone()));
            }
        }
    }

    /// A waiter says what it hears.
    pub(super) fn hears(&mut self, id: &HoldId, place: PlaceTerms, now: u64) {
        let until = after(now, place.lease);
        if self.line.hears(id, ear(place), until) {
            self.promise(until + KEPT);
        }
    }

    /// No client holds, and yet a waiter in the line keeps others out that should have received a message: sends it again. Whether
    /// a waiter was passed over, or this one was let in.
    pub(super) fn rouse(&mut self, asker: &HoldId, now: u64, post: &mut Post<'_>) -> bool {
        if !post.knows_who_hears() {
            return false;
        }
        let deaf = self.line.deaf();
        while self.line.next_ear() == Some(Ear::Subscribed) {
            if !matches!(self.line.next(), Some(Next::Readers { know: true, .. })) {
                self.pass_on(now, post);
                break;
            }
            if self.line.tell_first_reader_again(post) {
                break;
            }
        }
        self.line.deaf() > deaf || self.holds.iter().any(|hold| hold.id == *asker)
    }

    /// A token larger than all before: the time, or one more than the last.
    pub(super) fn next_token(&mut self, now: u64) -> u64 {
        self.last = now.max(self.last + 1);
        self.last
    }

    fn grant(&mut self, ask: &Ask<'_>, now: u64, post: &mut Post<'_>) -> Reply {
        let token = self.next_token(now);
        self.line.leave(ask.id);
        if self.is_free() {
            self.start_afresh();
        }
        if self.holds.is_empty() {
            // Mostly it stays the only one.
            self.holds.reserve_exact(1);
        }
        let deadline = after(now, ask.lease);
        self.holds.push(Hold {
            id: ask.id.clone(),
            mode: ask.mode,
            owner: ask.owner.cloned(),
            deadline,
            token,
        });
        self.promise(deadline);
        if ask.mode == LockMode::Read && post.serves_who_enters() {
            self.line.tell_readers(post);
        }
        Reply::Granted(ServerToken::new(token))
    }

    pub(super) fn refuse(&mut self, ask: &Ask<'_>, now: u64, retry: Duration) -> Reply {
        let Some(place) = ask.place else {
            return Reply::Busy(retry);
        };
        let until = after(now, place.lease);
        self.line.join(Waiter {
            id: ask.id.clone(),
            mode: ask.mode,
            owner: ask.owner.cloned(),
            deadline: until,
            ear: ear(place),
            nonce: place.nonce,
            since: now,
            silent: false,
            index: 0,
            before: 0,
        });
        self.promise(until + KEPT);
        self.note_time(now);
        Reply::Queued {
            retry,
            last: (self.last > 0).then(|| ServerToken::new(self.last)),
            now,
        }
    }
}

fn ear(place: PlaceTerms) -> Ear {
    if place.subscribed {
        Ear::Subscribed
    } else {
        Ear::Unknown
    }
}
