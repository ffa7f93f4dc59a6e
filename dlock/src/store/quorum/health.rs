//! Whether a member answers, and over which connections it has said who it is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::random::{HashMap, HashSet};
use crate::store::{Link, RedisNodeId};
use crate::sync::Mutex;

/// By how much one answer changes what is expected of the next.
const WEIGHT: u64 = 8;

/// What is known of a member's connections. A connection is fit if the server at its end has proved to be no other
/// member's, and has not been silent since it answered last.
#[derive(Debug, Default)]
pub(super) struct Health {
    links: Mutex<Links>,
    /// How long it takes to answer, as a rule, in µs; 0 before the first answer.
    pace: AtomicU64,
}

#[derive(Debug, Default)]
struct Links {
    /// For each server, the connection over which it has said who it is, and whether it answers.
    proven: HashMap<RedisNodeId, (Link, bool)>,
    /// The servers that a task asks now.
    probed: HashSet<RedisNodeId>,
}

impl Health {
    pub(super) fn is_fit(&self, link: Link) -> bool {
        self.links.lock().proven.get(&link.node) == Some(&(link, true))
    }

    /// Whether the server at the end of this has said who it is.
    pub(super) fn is_proven(&self, link: Link) -> bool {
        let links = self.links.lock();
        let proven = links.proven.get(&link.node);
        proven.is_some_and(|(proven, _)| *proven == link)
    }

    /// The server has said who it is.
    pub(super) fn prove(&self, link: Link) {
        self.links.lock().proven.insert(link.node, (link, true));
    }

    /// A request over this was not answered.
    pub(super) fn fell_silent(&self, link: Link) {
        if let Some((proven, answers)) = self.links.lock().proven.get_mut(&link.node)
            && *proven == link
        {
            *answers = false;
        }
    }

    /// A task is about to ask this server; whether none does so already.
    pub(super) fn begin_probing(&self, node: RedisNodeId) -> bool {
        self.links.lock().probed.insert(node)
    }

    pub(super) fn end_probing(&self, node: RedisNodeId) {
        self.links.lock().probed.remove(&node);
    }

    /// An answer took so long.
    pub(super) fn took(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros())
            .unwrap_or(u64::MAX / WEIGHT)
            .max(1);
        let pace = match self.pace.load(Ordering::Relaxed) {
            0 => micros,
            pace => (pace * (WEIGHT - 1) + micros) / WEIGHT,
        };
        self.pace.store(pace.max(1), Ordering::Relaxed);
    }

    /// How long an answer takes as a rule.
    pub(super) fn pace(&self) -> Duration {
        Duration::from_micros(self.pace.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Health;

    #[test]
    fn the_pace_follows_the_answers() {
        let health = Health::default();
        assert_eq!(health.pace(), Duration::ZERO);
        health.took(Duration::from_millis(8));
        assert_eq!(health.pace(), Duration::from_millis(8));
        health.took(Duration::from_millis(16));
        assert_eq!(health.pace(), Duration::from_millis(9));
        for _ in 0..100 {
            health.took(Duration::from_millis(1));
        }
        assert!(health.pace() < Duration::from_millis(2));
    }
}
