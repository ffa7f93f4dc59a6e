//! Names of a test's own, so that tests can share a server.

use std::sync::atomic::{AtomicU32, Ordering};

/// A key prefix that no other test uses, in this or any other process.
#[must_use]
pub fn unique_prefix() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("t{}-{number}-{:08x}", std::process::id(), fastrand::u32(..))
}
