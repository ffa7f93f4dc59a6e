//! `rslock`: a mutex by `SET NX`, polling, without renewal.

use std::time::Duration;

use rslock::LockManager;

use super::{Mode, Setup, System};

/// The bound.
const DEFAULT: Duration = Duration::from_millis(200);

#[derive(Clone)]
pub(crate) struct Rslock {
    manager: LockManager,
    lease: Duration,
}

impl System for Rslock {
    async fn connect(setup: &Setup) -> Self {
        let seeds: Vec<String> = setup
            .url
            .split(',')
            .map(|seed| format!("redis://{}", seed.trim_start_matches("redis://")))
            .collect();
        let mut manager = if seeds.len() > 1 {
            LockManager::new_cluster(seeds).expect("valid URLs")
        } else {
            LockManager::new(seeds)
        };
        // It waits whole milliseconds, at random below a bound: 0, 1 or 2 for one on average.
        let bound = setup.polling.interval(DEFAULT / 3) * 3;
        manager.set_retry(u32::MAX, bound);
        let lease = setup.lease;
        Self { manager, lease }
    }

    async fn locked<F>(&self, _mode: Mode, key: &str, body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let guard = self.manager.acquire(key, self.lease).await;
        let guard = guard.expect("the lock is granted");
        let output = body.await;
        guard.release().await;
        output
    }
}
