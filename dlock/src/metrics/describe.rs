//! The names of the metrics, help texts for the exporter, and bounds for its histograms.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// The names of the metrics; the table in the documentation of [`metrics`](crate::metrics) says what they
/// mean. Dashboards, rules and alerts of `examples/monitoring` go by them.
pub mod names {
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
    /// Counter: grants of holds that the process had kept, without a round trip.
    pub const LINGER_REUSES: &str = "dlock_linger_reuses_total";
    /// Counter: how often other clients asked for holds that the process may keep.
    pub const LINGER_REVOKES: &str = "dlock_linger_revokes_total";
    /// Histogram: from the request of another client to the release of a hold that no task used.
    pub const LINGER_GIVE_BACK: &str = "dlock_linger_give_back_seconds";
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
}

/// Describes all metrics to the installed recorder. Done by itself when the first lock is used;
/// harmless to repeat.
pub fn describe() {
    for (name, help) in [
        (
            names::ACQUIRE_WAIT,
            "From the call of an acquire to its end.",
        ),
        (names::HOLD, "From the grant to the release."),
        (names::HANDOVER, "From a release to the next grant."),
        (names::COMMAND, "From sending a command to its answer."),
        (
            names::LINGER_GIVE_BACK,
            "From the request of another client to the release of a hold that no task used.",
        ),
    ] {
        describe_histogram!(name, Unit::Seconds, help);
    }
    describe_histogram!(
        names::RENEWAL_SLACK,
        "What part of the lease was left when its renewal was acknowledged."
    );
    for (name, help) in [
        (names::HELD, "Guards alive now."),
        (names::WAITING, "Acquires under way now."),
        (
            names::QUEUED,
            "Acquires that wait until fewer requests of this process are under way.",
        ),
    ] {
        describe_gauge!(name, Unit::Count, help);
    }
    for (name, help) in [
        (
            names::CONTENDED,
            "Acquires that did not get the lock at once.",
        ),
        (names::WAKEUPS, "What made a waiter look again."),
        (names::RENEWALS, "Attempts to renew a lease."),
        (names::LOST, "Holds that ended before they were released."),
        (
            names::ENDED_LATE,
            "Bodies of annotated functions that ended of themselves after their lock was lost.",
        ),
        (
            names::LOCAL_HANDOVERS,
            "Grants passed on inside the process, without a round trip.",
        ),
        (
            names::LINGER_REUSES,
            "Grants of holds that the process had kept, without a round trip.",
        ),
        (
            names::LINGER_REVOKES,
            "How often other clients asked for holds that the process may keep.",
        ),
        (
            names::REDIRECTS,
            "Attempts of commands that had to be repeated.",
        ),
        (names::TOPOLOGY_CHANGES, "Changes of the slot map."),
        (names::ERRORS, "Failed operations."),
    ] {
        describe_counter!(name, Unit::Count, help);
    }
}

/// Recommended bounds of histogram buckets for all metrics of this crate. In seconds: from local hand-overs (tens of
/// microseconds) over round trips (a millisecond) to jobs (minutes). Of a lease: a quarter, a half, all of it.
///
/// ```
/// use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
///
/// let _builder = PrometheusBuilder::new()
///     .set_buckets_for_metric(Matcher::Prefix("dlock_".into()), &dlock::metrics::BUCKETS)?;
/// # Ok::<(), metrics_exporter_prometheus::BuildError>(())
/// ```
pub const BUCKETS: [f64; 18] = [
    0.000_01, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25, 0.5, 1.0, 5.0, 30.0, 300.0,
];
