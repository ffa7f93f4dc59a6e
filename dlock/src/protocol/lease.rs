//! What both stores make of a lease.

use std::time::Duration;

/// How long a free lock's last token is remembered at most.
const LONGEST_MEMORY: Duration = Duration::from_secs(60);

/// Leases are whole milliseconds, rounded up, as keys expire in Redis.
pub(crate) fn whole_millis(lease: Duration) -> Duration {
    match lease.subsec_nanos() % 1_000_000 {
        0 => lease,
        over => lease.saturating_add(Duration::from_nanos(u64::from(1_000_000 - over))),
    }
}

/// How long after it was sent an acquire may take effect: longer than the client waits for the answer, and shorter than
/// a free lock is remembered, which has to know which acquires are to be ignored.
pub(crate) fn validity(response_timeout: Duration) -> Duration {
    (response_timeout + Duration::from_secs(1)).min(LONGEST_MEMORY / 6 * 5)
}

/// When to forget a lock that a hold with this lease leaves free; `None` if it expires soon
/// enough by itself.
pub(crate) fn forget_after(lease: Duration) -> Option<Duration> {
    (lease > LONGEST_MEMORY).then_some(LONGEST_MEMORY)
}
