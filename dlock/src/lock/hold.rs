//! One hold on the server, as its client sees it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use super::lease::{Grant, Term, WAITER_LEASE, safe_deadline};
use crate::clock::BootInstant;
use crate::error::{Error, LossReason};
use crate::key::LockKey;
use crate::lock::Settings;
use crate::metrics::LockMetrics;
use crate::mode::Mode;
use crate::protocol::{HoldId, Stray};
use crate::token::FencingToken;
use crate::trace;

/// When a hold that was passed on is renewed first: soon, but not if it is given back at once.
const CONFIRMATION: Duration = Duration::from_millis(3);

const LIVE: u8 = 0;
const RELEASED: u8 = 1;
const LOST_EXPIRED: u8 = 2;
const LOST_REMOVED: u8 = 3;
const LOST_MAX_HOLD: u8 = 4;
const LOST_SHUTDOWN: u8 = 5;

/// What the server granted, and until when this client may rely on it.
pub(crate) struct Hold {
    pub(crate) key: LockKey,
    pub(crate) id: HoldId,
    pub(crate) mode: Mode,
    pub(crate) lease: Duration,
    renews_for: Option<Duration>,
    /// When the grant arrived.
    pub(crate) granted_at: BootInstant,
    pub(crate) metrics: Arc<LockMetrics>,
    /// Boot clock, ns: when this client must stop relying on the hold. Moved by acknowledged
    /// renewals only, and never once it has passed.
    deadline: AtomicU64,
    /// Passed on by another holder, and not renewed since: it lasts for a waiter's lease only.
    provisional: AtomicBool,
    /// Boot clock, ns: when the hold has been renewed for long enough.
    give_up_at: AtomicU64,
    last_token: AtomicU64,
    /// The last token that the server knows of.
    granted: AtomicU64,
    state: AtomicU8,
    /// Whether the server has been asked to give the hold to others if any wait: a renewal that finds it gone may have
    /// come behind that.
    yielding: AtomicBool,
    /// Until when a copy of the acquire may still arrive.
    stray_until: Option<BootInstant>,
    lost: Notify,
    /// The hold's place in the renewal queue; guarded by that queue's lock.
    pub(crate) renewal_due: AtomicU64,
}

impl Hold {
    pub(crate) fn new(
        key: LockKey,
        settings: &Settings,
        metrics: Arc<LockMetrics>,
        grant: Grant,
    ) -> Self {
        let (lease, token) = (settings.lease, grant.token);
        let (deadline, provisional) = match grant.term {
            Term::Lease(sent_at) => (safe_deadline(sent_at, lease), false),
            Term::Place(sent_at) => (safe_deadline(sent_at, WAITER_LEASE), true),
        };
        let hold = Self {
            key,
            id: grant.id,
            mode: grant.mode,
            lease,
            renews_for: settings.max_hold,
            granted_at: BootInstant::now(),
            metrics,
            deadline: AtomicU64::new(deadline.as_nanos()),
            provisional: AtomicBool::new(provisional),
            give_up_at: AtomicU64::new(u64::MAX),
            last_token: AtomicU64::new(token.as_u64()),
            granted: AtomicU64::new(token.as_u64()),
            state: AtomicU8::new(LIVE),
            yielding: AtomicBool::new(false),
            stray_until: grant.stray_until,
            lost: Notify::new(),
            renewal_due: AtomicU64::new(0),
        };
        hold.restart_max_hold(hold.granted_at);
        hold
    }

    /// Counts `max_hold` from here: a new user has taken over.
    pub(crate) fn restart_max_hold(&self, from: BootInstant) {
        if let Some(max_hold) = self.renews_for {
            self.give_up_at
                .store((from + max_hold).as_nanos(), Ordering::Release);
        }
    }

    pub(crate) fn deadline(&self) -> BootInstant {
        BootInstant::from_nanos(self.deadline.load(Ordering::Acquire))
    }

    pub(crate) fn give_up_at(&self) -> BootInstant {
        BootInstant::from_nanos(self.give_up_at.load(Ordering::Acquire))
    }

    pub(crate) fn last_token(&self) -> FencingToken {
        FencingToken::new(self.last_token.load(Ordering::Acquire))
    }

    /// The next token for a local hand-over; the server's next one will be larger still.
    pub(crate) fn next_token(&self) -> FencingToken {
        FencingToken::new(self.last_token.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// The last token that was handed out without the server's knowledge.
    pub(crate) fn handed(&self) -> Option<FencingToken> {
        let last = self.last_token();
        (last.as_u64() > self.granted.load(Ordering::Acquire)).then_some(last)
    }

    /// The last token that the server named.
    pub(crate) fn named_token(&self) -> FencingToken {
        FencingToken::new(self.granted.load(Ordering::Acquire))
    }

    /// Whether a copy of the acquire may still be on its way.
    pub(crate) fn stray(&self) -> Stray {
        match self.stray_until {
            Some(until) if BootInstant::now() < until => Stray::Possible,
            _ => Stray::None,
        }
    }

    /// The server is asked, or has answered, whether this may go on.
    pub(crate) fn set_yielding(&self, yielding: bool) {
        self.yielding.store(yielding, Ordering::Release);
    }

    pub(crate) fn is_yielding(&self) -> bool {
        self.yielding.load(Ordering::Acquire)
    }

    /// A fresh token from the server.
    pub(crate) fn raise_token(&self, token: FencingToken) {
        self.granted.fetch_max(token.as_u64(), Ordering::AcqRel);
        self.last_token.fetch_max(token.as_u64(), Ordering::AcqRel);
    }

    /// A renewal was acknowledged. `false` if it came too late: the hold stays lost.
    pub(crate) fn extend(&self, sent_at: BootInstant) -> bool {
        if self.loss().is_some() {
            return false;
        }
        self.deadline.fetch_max(
            safe_deadline(sent_at, self.lease).as_nanos(),
            Ordering::AcqRel,
        );
        self.provisional.store(false, Ordering::Release);
        true
    }

    pub(crate) fn is_provisional(&self) -> bool {
        self.provisional.load(Ordering::Acquire)
    }

    /// Whether enough is left to pass it on: renewals keep a lease above two thirds.
    pub(crate) fn is_healthy(&self) -> bool {
        let span = if self.is_provisional() {
            WAITER_LEASE
        } else {
            self.lease
        };
        self.is_live() && self.deadline().since(BootInstant::now()) > span / 3
    }

    /// When to renew: after a third of the lease, less up to a fifth of that, so that holds
    /// granted together do not all renew together.
    pub(crate) fn next_renewal(&self, from: BootInstant) -> BootInstant {
        let after = if self.is_provisional() {
            CONFIRMATION
        } else {
            // A lease is at most 24 hours: its nanoseconds fit.
            let third = u64::try_from(self.lease.as_nanos()).unwrap_or(u64::MAX) / 3;
            Duration::from_nanos(third - fastrand::u64(..=third / 5))
        };
        (from + after).min(self.give_up_at())
    }

    /// Why the hold is lost, if it is. Looks at the clock, so that nobody has to run in time for
    /// this to be right.
    pub(crate) fn loss(&self) -> Option<LossReason> {
        self.loss_by(BootInstant::now())
    }

    fn loss_by(&self, now: BootInstant) -> Option<LossReason> {
        match self.state.load(Ordering::Acquire) {
            LIVE => {
                if now < self.deadline() {
                    return None;
                }
                self.lose(LossReason::Expired);
                self.loss_recorded()
            }
            RELEASED => None,
            _ => self.loss_recorded(),
        }
    }

    fn loss_recorded(&self) -> Option<LossReason> {
        match self.state.load(Ordering::Acquire) {
            LOST_EXPIRED => Some(LossReason::Expired),
            LOST_REMOVED => Some(LossReason::Removed),
            LOST_MAX_HOLD => Some(LossReason::MaxHold),
            LOST_SHUTDOWN => Some(LossReason::Shutdown),
            _ => None,
        }
    }

    /// Ends a live hold as lost, once and for all; whether it was live.
    pub(crate) fn lose(&self, reason: LossReason) -> bool {
        let state = match reason {
            LossReason::Expired => LOST_EXPIRED,
            LossReason::Removed => LOST_REMOVED,
            LossReason::MaxHold => LOST_MAX_HOLD,
            LossReason::Shutdown => LOST_SHUTDOWN,
        };
        let was_live = self.leave(state);
        if was_live {
            self.metrics.lost(reason);
            trace::lost(&self.key, self.mode, self.last_token(), reason);
            self.lost.notify_waiters();
        }
        was_live
    }

    /// Ends a live hold as released; whether it was live.
    pub(crate) fn finish(&self) -> bool {
        self.leave(RELEASED)
    }

    fn leave(&self, state: u8) -> bool {
        self.state
            .compare_exchange(LIVE, state, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    pub(crate) fn lease_left(&self) -> Duration {
        let now = BootInstant::now();
        if self.loss_by(now).is_some() {
            return Duration::ZERO;
        }
        self.deadline().since(now)
    }

    pub(crate) fn is_live(&self) -> bool {
        self.state.load(Ordering::Acquire) == LIVE
    }

    pub(crate) fn is_released(&self) -> bool {
        self.state.load(Ordering::Acquire) == RELEASED
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

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold")
            .field("key", &self.key.as_str())
            .field("id", &self.id)
            .field("mode", &self.mode)
            .field("lost", &self.loss_recorded())
            .finish_non_exhaustive()
    }
}
