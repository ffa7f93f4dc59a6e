//! How often something happens.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// How far a rate looks back.
const WINDOW: Duration = Duration::from_secs(5);

/// Changes of hands of a lock, as far as they were seen.
#[derive(Debug, Clone)]
pub(super) struct Changes {
    /// What differs from grant to grant.
    mark: Option<String>,
    since: Instant,
    at: VecDeque<Instant>,
}

impl Changes {
    pub(super) fn new(mark: Option<String>, now: Instant) -> Self {
        Self {
            mark,
            since: now,
            at: VecDeque::new(),
        }
    }

    /// Takes a look.
    pub(super) fn see(&mut self, mark: Option<String>, now: Instant) {
        if mark.is_some() && mark != self.mark {
            self.mark = mark;
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
        let mut changes = Changes::new(Some("0".into()), start);
        assert!(changes.rate(start).abs() < 0.01);
        for tenth in 0..100_u32 {
            changes.see(Some((tenth / 5).to_string()), at(tenth));
        }
        assert!((changes.rate(at(99)) - 2.0).abs() < 0.1);
        changes.see(Some("19".into()), at(300));
        assert!(changes.rate(at(300)).abs() < 0.01);
    }
}
