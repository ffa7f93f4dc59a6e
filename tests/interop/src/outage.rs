//! Faults of the servers of a quorum, a minority at a time.

use std::{convert::Infallible, future::pending};

use fastrand::Rng;
use tokio::time::{Instant, sleep};

use crate::trial::Trial;

/// A fault of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outage {
    /// SIGKILL; it comes back empty. Redlock wants that no sooner than all leases are over that it knew: with what it forgets,
    /// and others do not know, two could be granted the lock.
    Killed,
    /// SIGSTOP.
    Frozen,
}

/// Has one or two servers fail for one and a half leases, lets all run for half of one, and so on. None is down at the end.
pub(crate) async fn befall(trial: &Trial) -> Infallible {
    let (lease, most) = (trial.options.lease, (trial.members.len() - 1) / 2);
    if !trial.options.servers_fail() {
        return pending().await;
    }
    let mut rng = Rng::with_seed(trial.options.seed);
    loop {
        sleep(lease / 2).await;
        if Instant::now() + lease * 2 > trial.end {
            return pending().await;
        }
        let count = rng.usize(1..=most.min(2));
        let failing = rng.choose_multiple(0..trial.members.len(), count);
        for member in &failing {
            let outage = if rng.bool() {
                trial.members.kill(*member);
                Outage::Killed
            } else {
                trial.members.freeze(*member);
                Outage::Frozen
            };
            trial.state().figures.outage(outage);
        }
        sleep(lease.mul_f64(1.5)).await;
        for member in failing {
            trial.members.bring_back(member).await;
        }
    }
}
