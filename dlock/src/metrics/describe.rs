//! Help texts for the exporter.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

use super::names;

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
        (
            names::RENEWAL_SLACK,
            "What was left of the lease when its renewal was acknowledged.",
        ),
        (names::COMMAND, "From sending a command to its answer."),
    ] {
        describe_histogram!(name, Unit::Seconds, help);
    }
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
            names::REDIRECTS,
            "Attempts of commands that had to be repeated.",
        ),
        (names::TOPOLOGY_CHANGES, "Changes of the slot map."),
        (names::ERRORS, "Failed operations."),
    ] {
        describe_counter!(name, Unit::Count, help);
    }
}
