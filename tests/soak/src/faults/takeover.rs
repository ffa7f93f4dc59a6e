//! Masters that are replaced.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use dlock_tests::scaled;
use tokio::time::{sleep, timeout};

use super::Stage;
use crate::driver::Role;

/// How long a cluster may take to elect.
const ELECTION: Duration = Duration::from_secs(20);
/// How long one question may take, and what passes before the next.
const PROBE: Duration = Duration::from_secs(12);
const BETWEEN_PROBES: Duration = Duration::from_millis(5);

/// A master dies or falls asleep, and its replica takes over; then it comes back.
pub(super) async fn failover(stage: Stage<'_>, number: usize, dies: bool, wakes: Duration) -> bool {
    let Some((shard, master, replica)) = pair(stage, number).await else {
        return false;
    };
    let server = stage.site.node(master);
    if dies {
        server.kill();
    } else {
        server.pause();
    }
    let replaced = is_replaced(stage, shard, replica).await;
    sleep(wakes).await;
    if dies {
        server.relaunch();
    } else {
        server.resume();
    }
    replaced
}

/// A replica takes over from a master that agrees.
pub(super) async fn hand_over(stage: Stage<'_>, number: usize) -> bool {
    let Some((shard, _, replica)) = pair(stage, number).await else {
        return false;
    };
    let server = stage.site.node(replica);
    if server.command(&["CLUSTER", "FAILOVER"]).await.is_err() {
        return false;
    }
    is_replaced(stage, shard, replica).await
}

/// A shard, its master and its replica.
async fn pair(stage: Stage<'_>, number: usize) -> Option<(usize, usize, usize)> {
    let shard = number % stage.site.shards();
    let master = stage.site.master_of(shard).await?;
    let replica = stage.site.partner(master)?;
    let follows = stage.site.role(replica).await == Some(Role::Replica);
    follows.then_some((shard, master, replica))
}

/// Whether a replica takes over; for how long clients cannot get at the shard's locks meanwhile is noted.
async fn is_replaced(stage: Stage<'_>, shard: usize, replica: usize) -> bool {
    let replaced = Cell::new(None);
    tokio::join!(
        async { replaced.set(Some(takes_over(stage, replica).await)) },
        async {
            let gap = gap(stage, shard, &replaced).await;
            if let (Some(gap), Some(true)) = (gap, replaced.get()) {
                let ms = u64::try_from(gap.as_millis()).unwrap_or(u64::MAX);
                stage.facts.lock().gaps_ms.push(ms);
            }
        },
    );
    replaced.get() == Some(true)
}

/// The longest time without an answer about a lock of the shard, until its master is replaced and answers again.
async fn gap(stage: Stage<'_>, shard: usize, replaced: &Cell<Option<bool>>) -> Option<Duration> {
    let probe = stage.sampler?.client.rw_lock(stage.site.homes.probe(shard));
    let probe = probe.ok()?;
    let begun = Instant::now();
    let mut answered = begun;
    let mut longest = Duration::ZERO;
    loop {
        let asked = replaced.get().is_some();
        if let Ok(Ok(_)) = timeout(PROBE, probe.inspect()).await {
            longest = longest.max(answered.elapsed());
            answered = Instant::now();
            if asked {
                return Some(longest);
            }
        }
        if begun.elapsed() > 2 * scaled(ELECTION) {
            return None;
        }
        sleep(BETWEEN_PROBES).await;
    }
}

async fn takes_over(stage: Stage<'_>, replica: usize) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < scaled(ELECTION) {
        if stage.site.role(replica).await == Some(Role::Master) {
            return true;
        }
        sleep(Duration::from_millis(20)).await;
    }
    false
}
