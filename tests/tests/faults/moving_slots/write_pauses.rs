//! How long servers paused writes: a hold whose lease ends meanwhile is lost by that, and by nothing else.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use dlock_tests::{RedisCluster, now_ns};
use futures_util::future::join_all;
use tokio::time::sleep;

/// A hold that was handed over lasts for three seconds until its first renewal, which a shorter pause leaves time for.
const LONG: Duration = Duration::from_secs(2);
const BETWEEN: Duration = Duration::from_millis(100);

/// Pauses so far: from and until, in ns of the host's boot-time clock.
#[derive(Debug, Default)]
pub(crate) struct WritePauses {
    pauses: Mutex<Vec<(u64, u64)>>,
    enough: AtomicBool,
}

impl WritePauses {
    /// Looks at all servers until told that it is [`enough`](Self::enough).
    pub(crate) async fn watch(self: Arc<Self>, cluster: Arc<RedisCluster>) {
        join_all((0..cluster.len()).map(|number| self.look(&cluster, number))).await;
    }

    async fn look(&self, cluster: &RedisCluster, number: usize) {
        while !self.enough.load(Relaxed) {
            let from = now_ns();
            // A script that might write, so a pause holds it up; one that takes too long to answer is sent again.
            while cluster
                .node(number)
                .command(&["EVAL", "return 1", "0"])
                .await
                .is_err()
                && !self.enough.load(Relaxed)
            {
                sleep(BETWEEN).await;
            }
            let until = now_ns();
            if Duration::from_nanos(until - from) > LONG {
                let mut pauses = self.pauses.lock().unwrap_or_else(PoisonError::into_inner);
                pauses.push((from, until));
            }
            sleep(BETWEEN).await;
        }
    }

    /// Ends the watch; returns what it has seen.
    pub(crate) fn enough(&self) -> Vec<(u64, u64)> {
        self.enough.store(true, Relaxed);
        let pauses = self.pauses.lock().unwrap_or_else(PoisonError::into_inner);
        pauses.clone()
    }
}
