//! Moving a slot in one step, on servers that can.

use std::{collections::BTreeMap, time::Duration};

use redis::RedisResult;

use super::RedisCluster;
use crate::{RedisServer, wait_for};

/// For a migration to end, also one whose source pauses writes until it gives up.
const END: Duration = Duration::from_secs(30);

/// How often a migration that fails may be tried again by the server itself (Redis, each second).
const TRIES: u32 = 10;

/// Calls off all migrations of a server, unless the target was already allowed to take over: from then on the target owns
/// the slot whatever the source does, and writes that the source accepts are lost. Look and change are one step.
const CALL_OFF: &str = "#!lua flags=no-writes
for _, job in ipairs(redis.call('CLUSTER', 'GETSLOTMIGRATIONS')) do
  for n = 1, #job, 2 do
    if job[n] == 'state' and job[n + 1] == 'failover-granted' then return 0 end
  end
end
local answer = redis.pcall('CLUSTER', 'CANCELSLOTMIGRATIONS')
return answer.err and 0 or 1";

/// Which command moves a slot: it says who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    /// Valkey, at the owner: `CLUSTER MIGRATESLOTS`.
    Send,
    /// Redis, at the next owner: `CLUSTER MIGRATION IMPORT`.
    Fetch,
}

/// States of migrations that have ended: those of Valkey, and those of Redis.
const ENDED: [&str; 5] = ["success", "cancelled", "failed", "completed", "canceled"];

/// How a migration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The target owns the slot.
    Yes,
    /// The source still owns it, and why.
    No(String),
}

/// A slot that moves to another master with all its keys, by the servers themselves.
#[derive(Debug)]
pub struct AtomicMigration<'s> {
    command: Command,
    from: &'s RedisServer,
    to: &'s RedisServer,
    job: String,
}

impl<'s> AtomicMigration<'s> {
    /// Begins to move `slot`, which `from` owns, to the server with this id; nothing if these servers have no such command.
    ///
    /// # Errors
    /// What the server answered if it refused, for example because another migration is under way.
    pub async fn begin(
        from: &'s RedisServer,
        to: &'s RedisServer,
        to_id: &str,
        slot: u16,
    ) -> RedisResult<Option<Self>> {
        let slot = slot.to_string();
        let send = [
            "CLUSTER",
            "MIGRATESLOTS",
            "SLOTSRANGE",
            &slot,
            &slot,
            "NODE",
            to_id,
        ];
        let fetch = ["CLUSTER", "MIGRATION", "IMPORT", &slot, &slot];
        let (command, answer) = match from.command(&send).await {
            Err(error) if is_unknown(&error) => (Command::Fetch, to.command(&fetch).await),
            answer => (Command::Send, answer),
        };
        let job = match answer {
            Err(error) if is_unknown(&error) => return Ok(None),
            Err(error) => return Err(error),
            Ok(answer) if command == Command::Fetch => redis::from_redis_value(answer)?,
            Ok(_) => {
                let range = format!("{slot}-{slot}");
                let jobs = jobs(from, command).await?;
                // The newest comes first.
                let job = jobs.iter().find(|job| {
                    job.get("slot_ranges") == Some(&range)
                        && job.get("operation").is_some_and(|it| it == "EXPORT")
                });
                job.and_then(|job| job.get("name"))
                    .cloned()
                    .unwrap_or_default()
            }
        };
        Ok(Some(Self {
            command,
            from,
            to,
            job,
        }))
    }

    /// How it ended; nothing while it goes on.
    ///
    /// # Errors
    /// If a server does not answer.
    pub async fn outcome(&self) -> RedisResult<Option<Moved>> {
        let asked = match self.command {
            Command::Send => self.from,
            Command::Fetch => self.to,
        };
        let jobs = jobs(asked, self.command).await?;
        let name = match self.command {
            Command::Send => "name",
            Command::Fetch => "id",
        };
        let field = |job: &BTreeMap<String, String>, name| job.get(name).cloned();
        let Some(job) = jobs
            .iter()
            .find(|job| job.get(name).is_some_and(|name| *name == self.job))
        else {
            return Ok(Some(Moved::No("the server has forgotten it".to_owned())));
        };
        let state = field(job, "state").unwrap_or_default();
        let message = field(job, "message").or_else(|| field(job, "last_error"));
        let tries = field(job, "retries").and_then(|tries| tries.parse::<u32>().ok());
        Ok(match &*state {
            "success" | "completed" => Some(Moved::Yes),
            "failed" if tries.is_some_and(|tries| tries < TRIES) => None,
            "cancelled" | "canceled" | "failed" => Some(Moved::No(format!(
                "{state}: {}",
                message.unwrap_or_default()
            ))),
            _ => None,
        })
    }

    /// Waits until it has ended, on both sides. A failed one that Redis would still try again is called off.
    pub async fn end(&self) -> Moved {
        let moved = wait_for(END, "the migration ends", || async {
            self.outcome().await.ok().flatten()
        })
        .await;
        if moved != Moved::Yes {
            // Refused where nothing is left to call off.
            let _ = self.call_off().await;
        }
        wait_for(END, "both servers are done with it", || async {
            self.is_over().await.is_ok_and(|over| over).then_some(())
        })
        .await;
        moved
    }

    /// Whether neither server is at any migration. Until then they refuse others, and the source may pause writes.
    ///
    /// # Errors
    /// If a server does not answer.
    pub async fn is_over(&self) -> RedisResult<bool> {
        for server in [self.from, self.to] {
            let states = jobs(server, self.command).await?;
            let mut states = states.iter().filter_map(|job| job.get("state"));
            if !states.all(|state| ENDED.contains(&&**state)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Calls it off; whether it was still time. A source that has paused writes may go on with that for its
    /// `cluster-slot-migration-write-pause-timeout` (Redis).
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn call_off(&self) -> RedisResult<bool> {
        let answer = match self.command {
            Command::Send => self.from.command(&["EVAL", CALL_OFF, "0"]).await?,
            // The target decides when it takes over, so it cannot be told too late.
            Command::Fetch => {
                let command = ["CLUSTER", "MIGRATION", "CANCEL", "ID", &self.job];
                self.to.command(&command).await?
            }
        };
        Ok(redis::from_redis_value::<u32>(answer)? > 0)
    }
}

impl RedisCluster {
    /// Begins to move `slot` to master number `to` in one step; nothing if these servers have no command for that.
    pub async fn begin_atomic_migration(
        &self,
        slot: u16,
        to: usize,
    ) -> Option<AtomicMigration<'_>> {
        let from = self.node(self.master_of(slot).await);
        let begun = AtomicMigration::begin(from, self.node(to), self.id(to), slot).await;
        begun.unwrap_or_else(|error| panic!("slot {slot} to node {to}: {error}"))
    }
}

/// The migrations that a server knows of, those that have ended too, each as a map.
async fn jobs(
    server: &RedisServer,
    command: Command,
) -> RedisResult<Vec<BTreeMap<String, String>>> {
    let question: &[&str] = match command {
        Command::Send => &["CLUSTER", "GETSLOTMIGRATIONS"],
        Command::Fetch => &["CLUSTER", "MIGRATION", "STATUS", "ALL"],
    };
    Ok(redis::from_redis_value(server.command(question).await?)?)
}

/// What servers say of a subcommand that they do not have.
fn is_unknown(error: &redis::RedisError) -> bool {
    error
        .to_string()
        .to_lowercase()
        .contains("unknown subcommand")
}
