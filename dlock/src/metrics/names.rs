//! The names of the metrics.
//!
//! Labels: `lock` is the label of the lock handle (the key template for annotated functions,
//! never a rendered key), `mode` is `read` or `write`.

/// Histogram, seconds; `lock`, `mode`, `outcome` (`acquired`, `busy`, `timeout`, `error`,
/// `cancelled`): from the call to its end.
pub const ACQUIRE_WAIT: &str = "dlock_acquire_wait_seconds";
/// Histogram, seconds; `lock`, `mode`: from the grant to the release.
pub const HOLD: &str = "dlock_hold_seconds";
/// Gauge; `lock`, `mode`: guards alive now.
pub const HELD: &str = "dlock_held";
/// Gauge; `lock`, `mode`: acquires under way now.
pub const WAITING: &str = "dlock_waiting";
/// Counter; `lock`, `mode`: acquires that did not get the lock at once.
pub const CONTENDED: &str = "dlock_contended_total";
/// Counter; `lock`, `reason` (`expired`, `removed`, `max_hold`, `shutdown`): holds that ended
/// before they were released.
pub const LOST: &str = "dlock_lost_total";
/// Counter; `lock`, `outcome` (`renewed`, `lost`, `unknown`): attempts to renew.
pub const RENEWALS: &str = "dlock_renewals_total";
/// Counter; `lock`: grants passed on inside the process, without a round trip.
pub const LOCAL_HANDOVERS: &str = "dlock_local_handovers_total";
/// Counter; `lock`, `source` (`message`, `timer`): what made a waiter look again.
pub const WAKEUPS: &str = "dlock_wakeups_total";
