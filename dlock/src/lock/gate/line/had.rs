//! For how long a process has had a lock.

use std::time::Duration;

use super::Line;
use crate::clock::BootInstant;

impl<H, W> Line<H, W> {
    /// For how long this process has had the lock, from task to task.
    pub(in super::super) fn had_for(&self, now: BootInstant) -> Duration {
        self.since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// The process leaves the lock to others for a while.
    pub(in super::super) fn steps_aside(&mut self) {
        self.since = None;
    }
}
