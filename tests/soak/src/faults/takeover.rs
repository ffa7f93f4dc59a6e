//! Masters that are replaced.

use std::time::{Duration, Instant};

use dlock_tests::scaled;
use tokio::time::{sleep, timeout};

use super::Stage;
use crate::driver::Role;

/// How long a cluster may take to elect.
const ELECTION: Duration = Duration::from_secs(20);

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

/// Whether a replica takes over; how long clients cannot get at the shard's locks meanwhile is noted.
async fn is_replaced(stage: Stage<'_>, shard: usize, replica: usize) -> bool {
    let begun = Instant::now();
    let lock = stage.site.homes.at(shard).first().copied();
    let answers = async {
        let lock = &stage.sampler?.locks[lock?];
        let answered = timeout(scaled(ELECTION), lock.inspect()).await;
        answered.ok()?.ok().map(|_| begun.elapsed())
    };
    let (replaced, gap) = tokio::join!(takes_over(stage, replica), answers);
    if let Some(gap) = gap.filter(|_| replaced) {
        let ms = u64::try_from(gap.as_millis()).unwrap_or(u64::MAX);
        stage.facts.lock().gaps_ms.push(ms);
    }
    replaced
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
