//! An acquire that is not finished yet.

use std::time::Duration;

use super::Commons;
use crate::clock::BootInstant;
use crate::hold::{Granted, Pending, Start};
use crate::key::LockKey;
use crate::protocol::{HoldId, Op, Reply, Stray, validity};
use crate::store::Answer;
use crate::token::ServerToken;

/// Undoes a half-done acquire unless settled: whether the request was queued, granted or never
/// arrived, the server is told to forget it.
#[derive(Debug)]
#[must_use = "dropping the claim abandons the acquire"]
pub(super) struct Claim<'a> {
    commons: &'a Commons,
    key: &'a LockKey,
    pub(super) id: HoldId,
    /// How long a hold or a place in the line may last that the server was asked for.
    longest: Duration,
    /// Whether a request is on its way.
    asking: bool,
    /// Until when one that was not answered may still arrive.
    stray_until: Option<BootInstant>,
    pending: Option<Pending>,
}

impl<'a> Claim<'a> {
    pub(super) fn new(commons: &'a Commons, key: &'a LockKey, lease: Duration) -> Self {
        Self {
            commons,
            key,
            id: commons.next_hold(),
            longest: lease,
            asking: false,
            stray_until: None,
            pending: Some(commons.keeper.begin()),
        }
    }

    /// A request leaves.
    pub(super) fn asks(&mut self, op: &Op) {
        self.asking = true;
        if let Op::Acquire {
            place: Some(place), ..
        } = op
        {
            self.longest = self.longest.max(place.lease);
        }
    }

    /// It was answered, perhaps not at the first try.
    pub(super) fn answered(&mut self, answer: &Answer) {
        self.asking = false;
        if let Reply::GrantedAs(id, _) = &answer.reply {
            self.id = id.clone();
        }
        if answer.resent {
            self.expect_stray();
        }
    }

    /// It was granted as an attempt that is of no use: the next one is another.
    pub(super) fn forgo(&mut self, op: &Op) {
        if let Op::Acquire { hold, .. } = op
            && self.id != *hold
        {
            let attempt = std::mem::replace(&mut self.id, hold.clone());
            let (keeper, key) = (&self.commons.keeper, self.key.clone());
            keeper.abandon(key, attempt, Stray::None, self.to_undo(), keeper.begin());
        }
    }

    /// It was not.
    pub(super) fn unanswered(&mut self) {
        self.asking = false;
        self.expect_stray();
    }

    /// How long what it may leave would last, or may still come: a hold, a place in the line, the request.
    fn to_undo(&self) -> Duration {
        self.longest.max(validity(self.commons.timeouts.response))
    }

    /// Twice the time for which a request is valid, as servers' clocks are only estimated.
    fn expect_stray(&mut self) {
        let validity = validity(self.commons.timeouts.response);
        self.stray_until = Some(BootInstant::now() + 2 * validity);
    }

    /// What has come of it.
    pub(super) fn granted(&self, token: ServerToken, start: Start) -> Granted {
        Granted {
            id: self.id.clone(),
            token,
            start,
            longest: self.longest,
            stray_until: self.stray_until,
        }
    }

    /// The outcome is known and needs no undoing. A shutdown waits for what is returned.
    pub(super) fn settle(mut self) -> Option<Pending> {
        self.pending.take()
    }

    /// The answer was no: there is nothing to undo, unless a copy of the request may still be granted.
    pub(super) fn settle_unless_stray(self) {
        if self.stray_until.is_none() {
            self.settle();
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            let possible = self
                .stray_until
                .is_some_and(|until| BootInstant::now() < until);
            let stray = if self.asking || possible {
                Stray::Possible
            } else {
                Stray::None
            };
            let (key, id) = (self.key.clone(), self.id.clone());
            let keeper = &self.commons.keeper;
            keeper.abandon(key, id, stray, self.to_undo(), pending);
        }
    }
}
