//! The clock a store lives by.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells a store the time, as Redis's `TIME` does. It may step back; locks take care of that.
pub trait ServerClock: fmt::Debug + Send + Sync {
    /// Microseconds since the epoch.
    fn micros(&self) -> u64;
}

/// The machine's wall clock.
#[derive(Debug)]
pub(super) struct WallClock;

impl ServerClock for WallClock {
    fn micros(&self) -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| {
                u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
            })
    }
}
