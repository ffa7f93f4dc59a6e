//! Faults of the servers of a quorum, a minority at a time.

use std::{convert::Infallible, future::pending};

use fastrand::Rng;
use tokio::time::{Instant, sleep};

use crate::trial::Trial;

/// A fault of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outage {
    /// SIGKILL. The server comes back empty, and not before all leases that it knew are over: if it forgot a live hold, two
    /// processes could get the lock.
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
        let failing = rng.choose_multiple(&trial.members, count);
        for member in &failing {
            let outage = if rng.bool() {
                Outage::Killed
            } else {
                Outage::Frozen
            };
            member.fail(outage);
            trial.state.lock().figures.outage(outage);
        }
        sleep(lease.mul_f64(1.5)).await;
        for member in failing {
            member.bring_back().await;
        }
    }
}
