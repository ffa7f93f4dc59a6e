//! Slots that servers move in one step, where they can.

use std::time::{Duration, Instant};

use dlock_tests::{AtomicMigration, Moved};
use redis::RedisResult;
use tokio::time::sleep;

use super::{Stage, takeover};

/// How long a migration may take, with a source that pauses writes until it gives up.
const LIMIT: Duration = Duration::from_secs(30);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// A slot, the masters that give and take it, and what goes with that.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) slot: u16,
    pub(super) from: usize,
    pub(super) to: usize,
    /// How long each key takes; when it is called off, if it is.
    pub(super) times: [Duration; 2],
    pub(super) call_off: bool,
    /// Whether the target's shard fails over meanwhile, as both agree. Never the source's: the guide advises against it, as a
    /// server may lose locks then (Valkey 9.1) or crash (Redis 8.6.3).
    pub(super) fails_over: bool,
}

/// Whether the slot has moved in the end; nothing if these servers have no command for that.
pub(super) async fn moves(stage: Stage<'_>, step: Step) -> Option<RedisResult<bool>> {
    let (source, target) = (stage.site.node(step.from), stage.site.node(step.to));
    let delay = step.times[0].as_micros().to_string();
    let slow = ["CONFIG", "SET", "rdb-key-save-delay", &delay];
    if let Err(error) = source.command(&slow).await {
        return Some(Err(error));
    }
    let id = stage.site.id(step.to).unwrap_or_default();
    let begun = AtomicMigration::begin(source, target, id, step.slot).await;
    let done = match begun {
        Ok(None) => None,
        Ok(Some(migration)) => Some(goes_on(stage, step, &migration).await),
        Err(error) => Some(Err(error)),
    };
    // Refused by a server that is down, which forgets the setting.
    let _ = source
        .command(&["CONFIG", "SET", "rdb-key-save-delay", "0"])
        .await;
    done
}

async fn goes_on(
    stage: Stage<'_>,
    step: Step,
    migration: &AtomicMigration<'_>,
) -> RedisResult<bool> {
    let beside = async {
        if step.fails_over && takeover::hand_over(stage, step.to).await {
            stage
                .facts
                .count("manual failover beside an atomic migration");
        }
    };
    let end = async {
        if step.call_off {
            sleep(step.times[1]).await;
            if migration.call_off().await? {
                stage.facts.count("atomic migration called off");
            }
        }
        ends(migration).await
    };
    let ((), moved) = tokio::join!(beside, end);
    if let Moved::No(why) = moved? {
        stage
            .facts
            .tell(format_args!("slot {} stays: {why}", step.slot));
        // Redis would try again. Refused where nothing is left to call off.
        let _ = migration.call_off().await;
    } else {
        stage.facts.count("atomic migration");
    }
    // Also after failovers and repetitions: the servers know.
    if !is_over(migration).await || !stage.site.heals().await {
        return Err(stuck("the servers do not agree"));
    }
    let owner = stage.site.owner(step.slot).await;
    let shards = stage.site.shards();
    Ok(owner.is_some_and(|owner| owner % shards == step.to % shards))
}

async fn ends(migration: &AtomicMigration<'_>) -> RedisResult<Moved> {
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        if let Ok(Some(moved)) = migration.outcome().await {
            return Ok(moved);
        }
        sleep(BETWEEN_LOOKS).await;
    }
    Err(stuck("it does not end"))
}

/// Whether servers are done with it in time: until then they refuse to move other slots.
async fn is_over(migration: &AtomicMigration<'_>) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        if migration.is_over().await.is_ok_and(|over| over) {
            return true;
        }
        sleep(BETWEEN_LOOKS).await;
    }
    false
}

fn stuck(why: &'static str) -> redis::RedisError {
    (
        redis::ErrorKind::Io,
        "an atomic migration got stuck",
        why.to_owned(),
    )
        .into()
}
