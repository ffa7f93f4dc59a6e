//! The names of the metrics; the table in the documentation of [`metrics`](super) says what they
//! mean. Dashboards, rules and alerts of `examples/monitoring` go by them.

/// Histogram: from the call of an acquire to its end.
pub const ACQUIRE_WAIT: &str = "dlock_acquire_wait_seconds";
/// Histogram: from the grant to the release.
pub const HOLD: &str = "dlock_hold_seconds";
/// Gauge: guards alive now.
pub const HELD: &str = "dlock_held";
/// Gauge: acquires under way now.
pub const WAITING: &str = "dlock_waiting";
/// Gauge: acquires that wait until fewer requests of this process are under way.
pub const QUEUED: &str = "dlock_queued";
/// Counter: acquires that did not get the lock at once.
pub const CONTENDED: &str = "dlock_contended_total";
/// Histogram: from a release to the next grant.
pub const HANDOVER: &str = "dlock_handover_seconds";
/// Counter: what made a waiter look again.
pub const WAKEUPS: &str = "dlock_wakeups_total";
/// Counter: attempts to renew a lease.
pub const RENEWALS: &str = "dlock_renewals_total";
/// Histogram: what part of the lease was left when its renewal was acknowledged.
pub const RENEWAL_SLACK: &str = "dlock_renewal_slack_ratio";
/// Counter: holds that ended before they were released.
pub const LOST: &str = "dlock_lost_total";
/// Counter: bodies that ended of themselves after their lock was lost.
pub const ENDED_LATE: &str = "dlock_ended_late_total";
/// Counter: grants passed on inside the process, without a round trip.
pub const LOCAL_HANDOVERS: &str = "dlock_local_handovers_total";
/// Histogram: from sending a command to its answer.
pub const COMMAND: &str = "dlock_command_seconds";
/// Counter: attempts of commands that had to be repeated.
pub const REDIRECTS: &str = "dlock_redirects_total";
/// Counter: changes of the slot map.
pub const TOPOLOGY_CHANGES: &str = "dlock_topology_changes_total";
/// Counter: failed operations.
pub const ERRORS: &str = "dlock_errors_total";

/// The values of the label `op`.
pub(crate) const OPS: [&str; 7] = [
    "acquire", "release", "renew", "abandon", "yield", "raise", "inspect",
];
