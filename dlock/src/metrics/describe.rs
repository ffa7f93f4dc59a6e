//! Help texts for the exporter.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

use super::names;

/// Describes all metrics to the installed recorder. Done by itself when the first lock is used;
/// harmless to repeat.
pub fn describe() {
    describe_histogram!(
        names::ACQUIRE_WAIT,
        Unit::Seconds,
        "From the call of an acquire to its end."
    );
    describe_histogram!(names::HOLD, Unit::Seconds, "From the grant to the release.");
    describe_gauge!(names::HELD, Unit::Count, "Guards alive now.");
    describe_gauge!(names::WAITING, Unit::Count, "Acquires under way now.");
    describe_counter!(
        names::CONTENDED,
        Unit::Count,
        "Acquires that did not get the lock at once."
    );
    describe_counter!(
        names::LOST,
        Unit::Count,
        "Holds that ended before they were released."
    );
    describe_counter!(names::RENEWALS, Unit::Count, "Attempts to renew a lease.");
    describe_counter!(
        names::LOCAL_HANDOVERS,
        Unit::Count,
        "Grants passed on inside the process, without a round trip."
    );
    describe_counter!(
        names::WAKEUPS,
        Unit::Count,
        "What made a waiter look again."
    );
}
