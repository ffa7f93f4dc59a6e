//! Whether a member answers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::BootInstant;

/// How long a member is asked everything although it does not answer: it may just be slow.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often one is tried that has been silent for longer.
const PROBE: Duration = Duration::from_millis(100);

/// Since when a member has been silent. One that is down is not sent what it would have to be told to forget when it
/// returns, nor does every request wait for it.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// Boot clock, ns; 0 while it answers.
    silent_since: AtomicU64,
    /// Boot clock, ns: when it is tried next.
    next_probe: AtomicU64,
}

impl Health {
    /// Whether it had been silent.
    pub(super) fn answered(&self) -> bool {
        let was_silent = self.silent_since.load(Ordering::Relaxed) != 0;
        if was_silent {
            self.silent_since.store(0, Ordering::Relaxed);
        }
        was_silent
    }

    pub(super) fn failed(&self, now: BootInstant) {
        let now = now.as_nanos().max(1);
        let _ = self
            .silent_since
            .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether it has not answered for so long that there is no use in asking.
    pub(super) fn is_down(&self, now: BootInstant) -> bool {
        let since = self.silent_since.load(Ordering::Relaxed);
        since != 0 && now.since(BootInstant::from_nanos(since)) >= PATIENCE
    }

    /// Whether to ask now: always, or now and then if it is down.
    pub(super) fn is_worth_asking(&self, now: BootInstant) -> bool {
        if !self.is_down(now) {
            return true;
        }
        let next = self.next_probe.load(Ordering::Relaxed);
        let after = (now + PROBE).as_nanos();
        next <= now.as_nanos()
            && self
                .next_probe
                .compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Health;
    use crate::clock::BootInstant;

    fn at(millis: u64) -> BootInstant {
        BootInstant::from_nanos(1) + Duration::from_millis(millis)
    }

    #[test]
    fn a_silent_member_is_tried_now_and_then() {
        let health = Health::default();
        health.failed(at(0));
        health.failed(at(900));
        assert!(health.is_worth_asking(at(999)));
        assert!(health.is_worth_asking(at(1_000)));
        assert!(!health.is_worth_asking(at(1_050)));
        assert!(health.is_worth_asking(at(1_100)));
        health.answered();
        assert!(health.is_worth_asking(at(1_101)) && health.is_worth_asking(at(1_101)));
    }
}
