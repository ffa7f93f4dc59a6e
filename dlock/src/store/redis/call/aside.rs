//! When a process stays away from a mutex that it has just given back.

use std::time::Duration;

use super::caller::Caller;
use crate::clock::Instant;
use crate::key::LockKey;

/// As long as `lua/mutex` leaves a mutex free where there is a line, and as often.
const FREE: Duration = Duration::from_millis(150);
const APART: Duration = Duration::from_secs(5);

impl Caller {
    /// After its tasks have had it for so long, one after the other: others may poll for it, of whom nothing can be seen.
    /// Where there is a line, the server leaves it free.
    pub(in super::super) fn aside(&self, key: &LockKey, held: Duration) -> Option<Duration> {
        let crowded = self.crowds.has(key.slot(), Instant::now());
        (!crowded && held >= APART).then_some(FREE)
    }
}
