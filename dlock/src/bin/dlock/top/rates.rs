//! How often something happens.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// How far a rate looks back.
const WINDOW: Duration = Duration::from_secs(5);

/// Changes of a lock's token, as far as they were seen.
#[derive(Debug, Clone)]
pub(super) struct Changes {
    token: Option<u64>,
    since: Instant,
    at: VecDeque<Instant>,
}

impl Changes {
    pub(super) fn new(token: Option<u64>, now: Instant) -> Self {
        Self {
            token,
            since: now,
            at: VecDeque::new(),
        }
    }

    /// Takes a look.
    pub(super) fn see(&mut self, token: Option<u64>, now: Instant) {
        if token.is_some() && token != self.token {
            self.token = token;
            self.at.push_back(now);
        }
        while self.at.front().is_some_and(|at| now - *at > WINDOW) {
            self.at.pop_front();
        }
    }

    /// Changes in a second.
    #[expect(clippy::cast_precision_loss, reason = "there are few")]
    pub(super) fn rate(&self, now: Instant) -> f64 {
        let watched = (now - self.since).min(WINDOW).as_secs_f64();
        if watched < 0.1 {
            return 0.0;
        }
        self.at.len() as f64 / watched
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::Changes;

    #[test]
    fn a_rate_counts_the_changes_of_the_last_seconds() {
        let start = Instant::now();
        let at = |tenths: u32| start + Duration::from_millis(100) * tenths;
        let mut changes = Changes::new(Some(0), start);
        assert!(changes.rate(start).abs() < 0.01);
        for tenth in 0..100_u32 {
            changes.see(Some(u64::from(tenth / 5)), at(tenth));
        }
        assert!((changes.rate(at(99)) - 2.0).abs() < 0.1);
        changes.see(Some(19), at(300));
        assert!(changes.rate(at(300)).abs() < 0.01);
    }
}
