//! What all that is asked of one quorum has in common.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::answers::Refusals;
use super::ledger::Ledger;
use super::member::Member;
use super::members::Roster;
use super::members::{Members, majority};
use super::outbox::{About, Letter};
use super::pauses::Pauses;
use crate::clock::{BootInstant, Instant, sleep, timeout_at};
use crate::key::LockKey;
use crate::protocol::{ClientId, HoldId, Op, Stray, validity};
use crate::slot::Slot;
use crate::store::Origin;
use crate::tasks::Place;

/// The shortest time that a member is given to answer.
pub(super) const SHORTEST: Duration = Duration::from_millis(20);

/// How many times as long as the fastest a member may take to answer to be asked before the others.
const SLOW: u32 = 4;
/// How much more it may take in any case.
const SLACK: Duration = Duration::from_millis(5);

/// For how long a token that is ahead of the clocks is kept for a member that is down.
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
    pub(super) refusals: Refusals,
    pub(super) response_timeout: Duration,
    /// By how much members' clocks were seen to disagree at most, in µs.
    apart: AtomicU64,
    pub(super) roster: Arc<Roster>,
}

impl Quorum {
    pub(super) fn new(
        (members, roster): (Box<[Arc<Member>]>, Arc<Roster>),
        client: ClientId,
        response_timeout: Duration,
    ) -> Self {
        Self {
            members,
            client,
            attempts: AtomicU64::new(1),
            ledger: Ledger::default(),
            pauses: Pauses::new(),
            refusals: Refusals::default(),
            response_timeout,
            apart: AtomicU64::new(0),
            roster,
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

    /// The members that answer, about a slot.
    pub(super) fn fit(&self, slot: Slot) -> Members {
        let mut fit = Members::default();
        for member in &self.members {
            if member.is_fit(slot) {
                fit.put(member.number);
            }
        }
        fit
    }

    /// The members that answer about a slot, as soon as they are a majority, or at `until`, or when the client is shut down.
    pub(super) async fn fit_majority(&self, slot: Slot, until: Instant) -> Members {
        loop {
            let mut changed = pin!(self.roster.changed.notified());
            changed.as_mut().enable();
            let fit = self.fit(slot);
            let closed = self.members.iter().any(|member| member.is_closed());
            if closed
                || fit.count() >= majority(self.members.len())
                || timeout_at(until, changed).await.is_err()
            {
                return fit;
            }
        }
    }

    /// The member that attempts on a lock ask before all others, so that only one of them goes on: the first one that answers
    /// as fast as the others do. While the lock is held, one that is known to have the hold: a member that came back empty
    /// is left alone, so that the holder finds it free.
    pub(super) fn meeting_point(&self, key: &LockKey, fit: Members) -> Option<usize> {
        let or_any = |some: Members, any: Members| if some.count() > 0 { some } else { any };
        let fit = or_any(fit.without(self.refusals.astray(key)), fit);
        let all = or_any(fit.common(self.pauses.holding(key.slot())), fit);
        let pace = |number: usize| self.members[number].health.pace();
        let fastest = fit.iter().map(pace).min()?;
        let mut fast = all
            .iter()
            .filter(|number| pace(*number) <= fastest * SLOW + SLACK);
        fast.next().or_else(|| all.iter().next())
    }

    /// Members have named tokens that are so far apart.
    pub(super) fn saw_apart(&self, apart: Duration) {
        let micros = u64::try_from(apart.as_micros()).unwrap_or(u64::MAX);
        if micros > self.apart.load(Ordering::Relaxed) {
            self.apart.fetch_max(micros, Ordering::Relaxed);
        }
    }

    /// Sends a member the token of a hold, in the background, for as long as the token may be ahead of the member's clock. (The
    /// tokens after one that was ahead are ahead, too. Members that received it name tokens close to each other.)
    pub(super) fn tell_later(&self, member: usize, key: &LockKey, op: Op) {
        let apart = Duration::from_micros(self.apart.load(Ordering::Relaxed));
        let until =
            BootInstant::now() + 2 * validity(self.response_timeout) + apart.min(LONGEST_AHEAD);
        let about = About::Token(key.clone());
        let key = key.clone();
        self.members[member].post(about, Letter { key, op, until });
    }

    /// Has these members forget an attempt or a hold, in the background; `open` are those of them where the acquire, or a copy
    /// of it, may still arrive.
    pub(super) fn forget_at(
        self: &Arc<Self>,
        members: Members,
        open: Members,
        key: &LockKey,
        id: &HoldId,
        lease: Duration,
    ) {
        // For as long as a late copy of the acquire may come, and then the hold last.
        let until = BootInstant::now() + lease + 2 * validity(self.response_timeout);
        for number in members.iter() {
            let stray = if open.has(number) {
                Stray::Possible
            } else {
                Stray::None
            };
            let (hold, key) = (id.clone(), key.clone());
            let op = Op::Abandon { hold, stray };
            self.members[number].post(About::End(id.clone()), Letter { key, op, until });
        }
        self.look_again(open, key, id, lease, Duration::ZERO);
    }

    /// Has these members forget an attempt or a hold once more, `rest` after nothing of it can arrive there any longer. What
    /// they received before covers requests with a validity: a plain `SET` has none, and a request may have been written after
    /// its validity.
    pub(super) fn look_again(
        self: &Arc<Self>,
        members: Members,
        key: &LockKey,
        id: &HoldId,
        lease: Duration,
        rest: Duration,
    ) {
        if members.count() == 0 {
            return;
        }
        let (quorum, key, id) = (Arc::clone(self), key.clone(), id.clone());
        Place::own().spawn(async move {
            sleep(rest + 2 * validity(quorum.response_timeout)).await;
            quorum.forget_at(members, Members::default(), &key, &id, lease);
        });
    }
}
