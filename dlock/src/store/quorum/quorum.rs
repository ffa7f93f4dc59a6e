//! What all that is asked of one quorum has in common.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::ledger::{Entry, Ledger};
use super::member::Member;
use super::members::Members;
use super::outbox::{About, Letter};
use super::pauses::Pauses;
use crate::clock::BootInstant;
use crate::key::LockKey;
use crate::protocol::{ClientId, HoldId, Op, Stray, validity};
use crate::store::Origin;

/// The shortest time that a member is given to answer.
const SHORTEST: Duration = Duration::from_millis(20);

/// For how long a member that is away is to be told a token that is ahead of the clocks.
const LONGEST_AHEAD: Duration = Duration::from_secs(24 * 60 * 60);

/// Which server answers does not matter here.
pub(super) const ORIGIN: Origin = Origin::of(0);

/// The members, and what is known of the holds on them.
#[derive(Debug)]
pub(super) struct Quorum {
    pub(super) members: Box<[Arc<Member>]>,
    /// Under this name attempts are made: what the client is called names no hold.
    pub(super) client: ClientId,
    attempts: AtomicU64,
    pub(super) ledger: Ledger,
    pub(super) pauses: Pauses,
    pub(super) response_timeout: Duration,
}

impl Quorum {
    pub(super) fn new(
        members: Box<[Arc<Member>]>,
        client: ClientId,
        response_timeout: Duration,
    ) -> Self {
        Self {
            members,
            client,
            attempts: AtomicU64::new(1),
            ledger: Ledger::default(),
            pauses: Pauses::new(),
            response_timeout,
        }
    }

    /// An id that no member has ever seen: what is undone stays undone, however late copies of it arrive.
    pub(super) fn next_attempt(&self) -> HoldId {
        HoldId::next(&self.client, &self.attempts)
    }

    /// How long a member may take to answer what counts for a lease: far less than that.
    pub(super) fn patience(&self, lease: Duration) -> Duration {
        (lease / 50).max(SHORTEST).min(self.response_timeout)
    }

    /// Those whom it makes sense to ask now.
    pub(super) fn worth_asking(&self, now: BootInstant) -> Members {
        let mut worth = Members::default();
        for member in &self.members {
            if member.is_worth_asking(now) {
                worth.put(member.number);
            }
        }
        worth
    }

    /// Has a member told the token of a hold, in the background, for as long as that may be ahead of its clock.
    pub(super) fn tell_later(&self, member: usize, key: &LockKey, op: Op, ahead: Duration) {
        let until =
            BootInstant::now() + 2 * validity(self.response_timeout) + ahead.min(LONGEST_AHEAD);
        let about = About::Token(key.clone());
        let key = key.clone();
        self.members[member].post(about, Letter { key, op, until });
    }

    /// Has these members forget an attempt or a hold, in the background.
    pub(super) fn forget_at(
        &self,
        members: Members,
        key: &LockKey,
        id: &HoldId,
        entry: &Entry,
        stray: impl Fn(usize) -> Stray,
    ) {
        // For as long as a late copy of the acquire may come, and then the hold last.
        let until = BootInstant::now() + entry.lease + 2 * validity(self.response_timeout);
        for number in members.iter() {
            let op = Op::Abandon {
                hold: id.clone(),
                stray: stray(number),
            };
            let key = key.clone();
            self.members[number].post(About::End(id.clone()), Letter { key, op, until });
        }
    }
}
