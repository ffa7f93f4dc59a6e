//! Until when a client may rely on its hold, and whether it was lost.

use std::time::Duration;

use crate::clock::BootInstant;
use crate::error::LossReason;
use crate::lease::margin;
use crate::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// How long a place in the line is kept without a refresh: how long a dead waiter can hold up
/// those behind it. A hold that was passed on lasts for what is left of that until it is renewed.
///
/// Long enough for two heartbeats in a row to go unanswered. Longer, up to four times as long, while the server is slow and
/// heartbeats are rarer for that.
pub(crate) const WAITER_LEASE: Duration = Duration::from_secs(3);

/// From when on a client may count which time as its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Start {
    /// The lease, from when the request left that was granted.
    Lease(BootInstant),
    /// A place's lease, from when the last request left that refreshed the place in the line.
    Place(BootInstant, Duration),
}

/// The moment at which this client must stop relying on a hold. Moved by acknowledged renewals only.
#[derive(Debug)]
pub(super) struct Deadline {
    /// How long it lasts until it is renewed, in ms.
    first: u32,
    /// Boot clock, ns.
    at: AtomicU64,
    /// Passed on by another holder, and not renewed since: it lasts for a waiter's lease only.
    provisional: AtomicBool,
}

impl Deadline {
    pub(super) fn new(start: Start, lease: Duration) -> Self {
        let (sent_at, first, provisional) = match start {
            Start::Lease(sent_at) => (sent_at, lease, false),
            Start::Place(sent_at, place) => (sent_at, place, true),
        };
        let at = safe_deadline(sent_at, first);
        Self {
            first: u32::try_from(first.as_millis()).unwrap_or(u32::MAX),
            at: AtomicU64::new(at.as_nanos()),
            provisional: AtomicBool::new(provisional),
        }
    }

    pub(super) fn at(&self) -> BootInstant {
        BootInstant::from_nanos(self.at.load(Ordering::Acquire))
    }

    pub(super) fn is_provisional(&self) -> bool {
        self.provisional.load(Ordering::Acquire)
    }

    /// A request that left at `sent_at` was acknowledged: the lease counts from there.
    pub(super) fn extend(&self, sent_at: BootInstant, lease: Duration) {
        let at = safe_deadline(sent_at, lease);
        self.at.fetch_max(at.as_nanos(), Ordering::AcqRel);
        self.provisional.store(false, Ordering::Release);
    }

    /// Whether enough is left to pass the hold on: renewals keep a lease above two thirds.
    pub(super) fn is_ample(&self, now: BootInstant, lease: Duration) -> bool {
        let span = if self.is_provisional() {
            Duration::from_millis(self.first.into())
        } else {
            lease
        };
        self.at().since(now) > span / 3
    }
}

/// Until when a lease counted from `sent_at` may be relied on.
fn safe_deadline(sent_at: BootInstant, lease: Duration) -> BootInstant {
    sent_at + lease.saturating_sub(margin(lease))
}

const LIVE: u8 = 0;
const RELEASED: u8 = 1;
const LOST_EXPIRED: u8 = 2;
const LOST_REMOVED: u8 = 3;
const LOST_MAX_HOLD: u8 = 4;
const LOST_SHUTDOWN: u8 = 5;

/// Live, released or lost. A hold ends once.
#[derive(Debug, Default)]
pub(super) struct Fate(AtomicU8);

impl Fate {
    pub(super) fn is_live(&self) -> bool {
        self.0.load(Ordering::Acquire) == LIVE
    }

    pub(super) fn is_released(&self) -> bool {
        self.0.load(Ordering::Acquire) == RELEASED
    }

    /// Why it was lost, if it was.
    pub(super) fn loss(&self) -> Option<LossReason> {
        match self.0.load(Ordering::Acquire) {
            LOST_EXPIRED => Some(LossReason::Expired),
            LOST_REMOVED => Some(LossReason::Removed),
            LOST_MAX_HOLD => Some(LossReason::MaxHold),
            LOST_SHUTDOWN => Some(LossReason::Shutdown),
            _ => None,
        }
    }

    /// Ends it as lost; whether it was live.
    pub(super) fn lose(&self, reason: LossReason) -> bool {
        self.end(match reason {
            LossReason::Expired => LOST_EXPIRED,
            LossReason::Removed => LOST_REMOVED,
            LossReason::MaxHold => LOST_MAX_HOLD,
            LossReason::Shutdown => LOST_SHUTDOWN,
        })
    }

    /// Ends it as released; whether it was live.
    pub(super) fn finish(&self) -> bool {
        self.end(RELEASED)
    }

    fn end(&self, state: u8) -> bool {
        self.0
            .compare_exchange(LIVE, state, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}
