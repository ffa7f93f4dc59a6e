//! A stranger who may publish on channels, but not read keys: it tells waiters, whose ids it got to know somehow, that the lock
//! is theirs.

use std::time::Duration;

use dlock_tests::now_ns;
use tokio::time::sleep;

use super::Stage;
use crate::plan::Plan;

/// Sends messages to all waiters, and a few moments later again; whether there was a waiter.
pub(super) async fn happens(stage: Stage<'_>, lock: usize, times: u32) -> bool {
    let mut told = false;
    for _ in 0..times {
        told |= tell(stage, lock).await.unwrap_or(false);
        sleep(Duration::from_millis(3)).await;
    }
    told
}

async fn tell(stage: Stage<'_>, lock: usize) -> Option<bool> {
    let info = stage.sampler?.locks[lock].inspect().await.ok()?;
    let (_, shard) = stage.site.homes.of(lock);
    let master = stage.site.master_of(shard).await?;
    let server = stage.site.node(master);
    // A token that a server's clock would give just now.
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let token = clock.ok()?.as_micros();
    for waiter in &info.waiters {
        let client = waiter.id.rsplit_once('/').map_or("", |(client, _)| client);
        // In a cluster, and on a single server.
        let channels = [
            format!("{}:{client}", stage.plan.channel_of(lock)),
            Plan::channel_of_client(client),
        ];
        // As long as those are that it cannot know.
        let nonce = now_ns() & 0x00ff_ffff_ffff_ffff;
        let message = format!("{} {nonce} {token}", waiter.id);
        for channel in &channels {
            for command in ["PUBLISH", "SPUBLISH"] {
                // Old servers know only the first.
                let _ = server.command(&[command, channel, &message]).await;
            }
        }
    }
    Some(!info.waiters.is_empty())
}
