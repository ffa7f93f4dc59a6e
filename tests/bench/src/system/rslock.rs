//! `rslock`: a mutex by `SET NX`, polling, without renewal.

use std::time::Duration;

use rslock::LockManager;

use super::{Body, Mode, Setup, System, Topology};

/// The bound.
const DEFAULT: Duration = Duration::from_millis(200);

#[derive(Clone)]
pub(crate) struct Rslock {
    manager: LockManager,
    lease: Duration,
}

impl System for Rslock {
    async fn connect(setup: &Setup) -> Self {
        let nodes: Vec<String> = setup.nodes().collect();
        let mut manager = match setup.topology {
            Topology::Cluster => LockManager::new_cluster(nodes).expect("valid URLs"),
            Topology::Standalone | Topology::Quorum => LockManager::new(nodes),
        };
        // It waits whole milliseconds, at random below a bound: 0, 1 or 2 for one on average.
        let bound = setup.polling.interval(DEFAULT / 3) * 3;
        manager.set_retry(u32::MAX, bound);
        let lease = setup.lease;
        Self { manager, lease }
    }

    async fn locked<B: Body>(&self, _mode: Mode, key: &str, body: B) -> B::Output {
        let guard = self.manager.acquire(key, self.lease).await;
        let guard = guard.expect("the lock is granted");
        let output = body.await;
        guard.release().await;
        output
    }
}
