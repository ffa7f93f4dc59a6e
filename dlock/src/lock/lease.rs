//! What a grant gives, and for how long.

use std::time::Duration;

use crate::clock::BootInstant;
use crate::mode::Mode;
use crate::protocol::HoldId;
use crate::token::FencingToken;

/// How long a place in the line is kept without a refresh: how long a dead waiter can hold up
/// those behind it. A hold that was passed on lasts for what is left of that until it is renewed.
///
/// Long enough for two heartbeats in a row to go unanswered.
pub(super) const WAITER_LEASE: Duration = Duration::from_secs(3);

/// From when on a client may count which time as its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Term {
    /// The lease, from when the request left that was granted.
    Lease(BootInstant),
    /// A waiter's lease, from when the last request left that refreshed the place in the line.
    Place(BootInstant),
}

/// What the server has said when it granted.
pub(crate) struct Grant {
    pub(crate) id: HoldId,
    pub(crate) mode: Mode,
    pub(crate) token: FencingToken,
    pub(crate) term: Term,
    /// Until when a copy of the acquire may still arrive.
    pub(crate) stray_until: Option<BootInstant>,
}

/// Until when a lease counted from `sent_at` may be relied on.
pub(super) fn safe_deadline(sent_at: BootInstant, lease: Duration) -> BootInstant {
    sent_at + lease.saturating_sub(margin(lease))
}

/// How long before the server a holder takes its lease for over: covers clocks that run at
/// different speeds (1 %, the allowance of the Redlock paper, and 2 ms for their resolution).
pub(crate) fn margin(lease: Duration) -> Duration {
    lease / 100 + Duration::from_millis(2)
}
