//! What some of the supported servers lack.

use std::io::Write;

use crate::server::version;

/// Whether the servers have sharded channels (`SSUBSCRIBE`): from Redis 7.0 on.
#[must_use]
pub fn sharded_channels() -> bool {
    version() >= (7, 0)
}

/// The command that wakes waiters on these servers.
#[must_use]
pub fn publish_command() -> &'static str {
    if sharded_channels() {
        "SPUBLISH"
    } else {
        "PUBLISH"
    }
}

/// Says that the test that calls this is about something that the server lacks, so that it is not counted as passed.
///
/// For `scripts/compat`, past what `cargo test` captures. Never for what a lock has to do on every server.
pub fn not_applicable(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    writeln!(
        std::io::stdout(),
        "dlock-test: not applicable: {test}: {reason}"
    )
    .expect("the standard output is open");
}
