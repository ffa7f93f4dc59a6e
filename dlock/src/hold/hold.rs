//! One hold on the server, as its client sees it: its terms, its tokens, its end.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::deadline::{Deadline, Fate, Start};
use super::lingering::Lingering;
use crate::clock::{BootInstant, sleep};
use crate::error::{Error, LossReason};
use crate::key::LockKey;
use crate::kind::{LockKind, LockMode};
use crate::lease::{LINGERING_LEASE, Millis};
use crate::metrics::LockMetrics;
use crate::protocol::{HoldId, Stray};
use crate::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use crate::token::{FencingToken, ServerToken};
use crate::{random, trace};

/// When a hold that was passed on is renewed first: soon, but not if it is given back at once.
const CONFIRMATION: Duration = Duration::from_millis(3);
/// Added before parts of a millisecond are cut off, which rounds up.
const ALMOST_A_MS: Duration = Duration::from_nanos(999_999);

/// The server has not been asked to give the hold to others if any wait.
const NOT_YIELDING: u8 = 0;
/// The server has been asked, and the answer has not been read yet. A renewal that finds the hold gone may have come behind that.
const YIELDING: u8 = 1;
/// A renewal has found it gone meanwhile: either others have it, or it was removed afterwards.
const YIELDED_OR_GONE: u8 = 2;

/// What the server has said when it granted.
pub(crate) struct Granted {
    pub(crate) id: HoldId,
    pub(crate) token: ServerToken,
    pub(crate) start: Start,
    /// For how long after a request the server may keep it: for the lease or, if it was passed on, for the place's. Renewals
    /// and repeated acquires shorten nothing.
    pub(crate) longest: Duration,
    /// Until when a copy of the acquire may still arrive.
    pub(crate) stray_until: Option<BootInstant>,
}

/// What the server granted, and until when this client may rely on it.
pub(crate) struct Hold {
    pub(crate) key: LockKey,
    pub(crate) id: HoldId,
    pub(crate) terms: Terms,
    /// When the grant arrived.
    pub(crate) granted_at: BootInstant,
    pub(crate) metrics: Arc<LockMetrics>,
    deadline: Deadline,
    /// In ms, rounded up.
    longest: u32,
    /// Boot clock, ns: when the hold has been renewed for long enough.
    give_up_at: AtomicU64,
    tokens: Tokens,
    /// What only a hold has that its process may keep for its next task.
    lingering: Option<Box<Lingering>>,
    fate: Fate,
    lost: Notify,
    yielding: AtomicU8,
    /// Whether anything may have been done under it.
    used: AtomicBool,
    /// Until when a copy of the acquire may still arrive.
    stray_until: Option<BootInstant>,
    /// The number of the connection on which a renewal is under way; 0 if there is none.
    pub(super) renewing: AtomicU64,
    /// The hold's place in the renewal queue; guarded by that queue's lock.
    pub(super) renewal_due: AtomicU64,
}

impl Hold {
    pub(crate) fn new(
        key: LockKey,
        terms: Terms,
        metrics: Arc<LockMetrics>,
        granted: Granted,
    ) -> Self {
        let granted_at = BootInstant::now();
        let lingering = |_| Lingering::new(granted.token, granted_at).into();
        let hold = Self {
            key,
            id: granted.id,
            terms,
            granted_at,
            metrics,
            deadline: Deadline::new(granted.start, terms.lease),
            longest: u32::try_from((granted.longest + ALMOST_A_MS).as_millis()).unwrap_or(u32::MAX),
            give_up_at: AtomicU64::new(u64::MAX),
            tokens: Tokens::new(granted.token),
            lingering: terms.linger.map(lingering),
            fate: Fate::default(),
            lost: Notify::new(),
            yielding: AtomicU8::new(NOT_YIELDING),
            used: AtomicBool::new(false),
            stray_until: granted.stray_until,
            renewing: AtomicU64::new(0),
            renewal_due: AtomicU64::new(0),
        };
        hold.restart_max_hold(granted_at);
        hold
    }

    /// No task uses it for now: `max_hold` does not count, and an end is no loss.
    pub(crate) fn begin_to_linger(&self) {
        self.give_up_at.store(u64::MAX, Ordering::Release);
        if let Some(lingering) = &self.lingering {
            lingering.set_idle(true);
        }
    }

    /// A task uses it again.
    pub(crate) fn end_to_linger(&self) {
        if let Some(lingering) = &self.lingering {
            lingering.set_idle(false);
        }
        if self.terms.max_hold.is_some() {
            self.restart_max_hold(BootInstant::now());
        }
    }

    /// Counts `max_hold` from here: a new user has taken over.
    pub(crate) fn restart_max_hold(&self, from: BootInstant) {
        if let Some(max_hold) = self.terms.max_hold {
            self.give_up_at
                .store((from + max_hold).as_nanos(), Ordering::Release);
        }
    }

    /// From now on something is done under it.
    pub(crate) fn begin_use(&self) {
        if self.terms.min_hold.is_some() {
            self.used.store(true, Ordering::Release);
        }
    }

    /// For how long the lock has to stay held although this holder is done, if it has done anything.
    pub(super) fn rest(&self) -> Option<Duration> {
        if !self.used.load(Ordering::Acquire) {
            return None;
        }
        let held = BootInstant::now().since(self.granted_at);
        let rest = self.terms.min_hold?.span().checked_sub(held)?;
        (!rest.is_zero()).then_some(rest)
    }

    pub(super) fn give_up_at(&self) -> BootInstant {
        BootInstant::from_nanos(self.give_up_at.load(Ordering::Acquire))
    }

    pub(crate) fn deadline(&self) -> BootInstant {
        self.deadline.at()
    }

    /// For how long from now the server may keep it, unless it is released.
    pub(super) fn longest(&self) -> Duration {
        Duration::from_millis(self.longest.into())
    }

    pub(super) fn is_provisional(&self) -> bool {
        self.deadline.is_provisional()
    }

    pub(crate) fn last_token(&self) -> FencingToken {
        self.tokens.last()
    }

    /// The next token for a local hand-over.
    pub(crate) fn next_token(&self) -> FencingToken {
        self.tokens.next()
    }

    /// The last token that the server named.
    pub(crate) fn named_token(&self) -> ServerToken {
        match &self.lingering {
            Some(lingering) => lingering.named(),
            None => self.tokens.named(),
        }
    }

    /// A fresh token from the server.
    pub(crate) fn raise_token(&self, named: ServerToken) {
        self.tokens.raise(named);
        if let Some(lingering) = &self.lingering {
            lingering.raise(named, BootInstant::now());
        }
    }

    /// Up to which token of the server's tokens were used under it, if the server did not name it.
    pub(crate) fn spent(&self) -> Option<ServerToken> {
        self.lingering()?.spent(self.last_token())
    }

    /// What there is to know of it if its process may keep it for its next task.
    pub(crate) fn lingering(&self) -> Option<&Lingering> {
        self.lingering.as_deref()
    }

    /// Whether a copy of the acquire may still be on its way.
    pub(crate) fn stray(&self) -> Stray {
        match self.stray_until {
            Some(until) if BootInstant::now() < until => Stray::Possible,
            _ => Stray::None,
        }
    }

    /// The server is asked whether this may go on.
    pub(crate) fn begin_yield(&self) {
        self.yielding.store(YIELDING, Ordering::Release);
    }

    /// The server has answered that this may go on. `false` if a renewal has found it gone since.
    pub(crate) fn end_yield(&self) -> bool {
        self.swap_yielding(YIELDING, NOT_YIELDING)
    }

    /// A renewal has found it gone. Whether the answer of a yield has yet to tell what that means.
    pub(super) fn missing_while_yielding(&self) -> bool {
        self.swap_yielding(YIELDING, YIELDED_OR_GONE)
            || self.yielding.load(Ordering::Acquire) == YIELDED_OR_GONE
    }

    fn swap_yielding(&self, from: u8, to: u8) -> bool {
        self.yielding
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// A renewal was acknowledged. `false` if it came too late: the hold stays lost.
    pub(crate) fn extend(&self, sent_at: BootInstant) -> bool {
        let in_time = self.loss().is_none();
        if in_time {
            self.deadline.extend(sent_at, self.terms.lease);
        }
        in_time
    }

    /// Whether it is worth joining or passing on.
    pub(crate) fn is_healthy(&self, now: BootInstant) -> bool {
        self.is_live() && self.deadline.is_ample(now, self.terms.lease) && self.has_token(now)
    }

    /// Whether there is a token for one more task.
    fn has_token(&self, now: BootInstant) -> bool {
        let has_token = |lingering: &Lingering| lingering.has_token_behind(self.last_token(), now);
        self.lingering().is_none_or(has_token)
    }

    /// When to renew: after a third of the lease, less up to a fifth of that, so that holds
    /// granted together do not all renew together; when half is left of one that was granted slowly.
    pub(super) fn next_renewal(&self, from: BootInstant) -> BootInstant {
        let after = if self.is_provisional() {
            CONFIRMATION
        } else {
            // A lease is at most 24 hours: its nanoseconds fit.
            let third = u64::try_from(self.terms.lease.as_nanos()).unwrap_or(u64::MAX) / 3;
            Duration::from_nanos(third - random::u64(..=third / 5))
        };
        let left = self.deadline().since(from);
        (from + after.min(left / 2)).min(self.give_up_at())
    }

    /// Why the hold is lost, if it is. Reads the clock, so that the answer is right even if no task ran in time.
    pub(crate) fn loss(&self) -> Option<LossReason> {
        self.loss_by(BootInstant::now())
    }

    pub(super) fn loss_by(&self, now: BootInstant) -> Option<LossReason> {
        if self.is_live() && now >= self.deadline() {
            self.lose(LossReason::Expired);
        }
        self.fate.loss()
    }

    /// Ends a live hold as lost, once and for all; whether it was live.
    pub(super) fn lose(&self, reason: LossReason) -> bool {
        let was_live = self.fate.lose(reason);
        // A hold that no task uses is no loss to any.
        let idle = self.lingering().is_some_and(Lingering::is_idle);
        if was_live && !idle {
            self.metrics.lost(reason);
            trace::lost(&self.key, self.terms.mode, self.last_token(), reason);
        }
        if was_live {
            self.lost.notify_waiters();
            self.tell_watch();
        }
        was_live
    }

    /// Ends a live hold as released; whether it was live.
    pub(super) fn finish(&self) -> bool {
        let was_live = self.fate.finish();
        self.tell_watch();
        was_live
    }

    /// The task that watches a hold that may linger ends with it.
    fn tell_watch(&self) {
        if let Some(lingering) = &self.lingering {
            lingering.changed.notify_one();
        }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.fate.is_live()
    }

    pub(super) fn is_released(&self) -> bool {
        self.fate.is_released()
    }

    pub(crate) fn lease_left(&self) -> Duration {
        let now = BootInstant::now();
        if self.loss_by(now).is_some() {
            return Duration::ZERO;
        }
        self.deadline().since(now)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.loss() {
            Some(reason) => Err(Error::lost(self.key.name(), reason)),
            None => Ok(()),
        }
    }

    /// Completes when the hold is lost; with its own timer, so that it does not depend on the
    /// renewal task. The timer is short because it stands still while the machine sleeps.
    pub(crate) async fn lost(&self) -> LossReason {
        loop {
            let notified = self.lost.notified();
            tokio::pin!(notified);
            notified.as_mut().enable();
            let now = BootInstant::now();
            if let Some(reason) = self.loss_by(now) {
                return reason;
            }
            let left = self.deadline().since(now);
            tokio::select! {
                () = notified => {}
                () = sleep(left.clamp(Duration::from_millis(1), Duration::from_secs(1))) => {}
            }
        }
    }
}

/// Is notified when a hold is lost.
pub(crate) trait OnLoss: Send + Sync {
    /// Called when a hold is lost; perhaps again for one that was lost before.
    fn lost(self: Arc<Self>, hold: &Arc<Hold>);
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold")
            .field("key", &self.key.as_str())
            .field("id", &self.id)
            .field("mode", &self.terms.mode)
            .field("lost", &self.fate.loss())
            .finish_non_exhaustive()
    }
}

/// What a hold was acquired with, and what two tasks must agree on to share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Some want a token with a mutex, and some do not.
    pub(crate) kind: LockKind,
    pub(crate) mode: LockMode,
    pub(crate) lease: Duration,
    pub(crate) max_hold: Option<Duration>,
    /// How long the lock stays held, although its holder may be done.
    pub(crate) min_hold: Option<Millis>,
    /// How long the process keeps the hold after its last task.
    pub(crate) linger: Option<Millis>,
}

impl Terms {
    /// The terms of a hold that its process keeps for its next task. If the process ends without giving it back, that costs others
    /// little.
    pub(crate) fn lingering(self, linger: Millis) -> Self {
        Self {
            lease: self.lease.min(LINGERING_LEASE),
            linger: Some(linger),
            ..self
        }
    }

    /// Readers stand on one hold together, unless each has a time limit of its own.
    pub(crate) fn shareable(&self) -> bool {
        self.mode == LockMode::Read && self.max_hold.is_none() && self.min_hold.is_none()
    }

    /// Writers pass a hold on, unless each has to keep it for a while.
    pub(crate) fn may_be_passed_on(&self) -> bool {
        self.mode == LockMode::Write && self.min_hold.is_none()
    }
}

/// The last token of a hold: one of those which belong to what the server named last.
#[derive(Debug)]
pub(super) struct Tokens {
    last: AtomicU64,
}

impl Tokens {
    pub(super) fn new(named: ServerToken) -> Self {
        Self {
            last: AtomicU64::new(FencingToken::first_of(named).as_u64()),
        }
    }

    pub(super) fn last(&self) -> FencingToken {
        FencingToken::from_u64(self.last.load(Ordering::Acquire))
    }

    /// The next token for a local hand-over; the server's next one will be larger still. A slice is shorter than there are
    /// tokens for it.
    pub(super) fn next(&self) -> FencingToken {
        FencingToken::from_u64(self.last.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// The last token that the server named.
    pub(super) fn named(&self) -> ServerToken {
        ServerToken::behind(self.last())
    }

    /// A fresh token from the server.
    pub(super) fn raise(&self, named: ServerToken) {
        let first = FencingToken::first_of(named).as_u64();
        self.last.fetch_max(first, Ordering::AcqRel);
    }
}
