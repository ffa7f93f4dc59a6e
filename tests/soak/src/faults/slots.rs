//! Slots that move, and those that stay after all: what operators' tools do.

use std::time::Duration;

use dlock_tests::now_ns;
use redis::RedisResult;
use tokio::time::sleep;

use super::{Stage, atomic};

/// How often a step is tried, and what passes in between.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// A slot that is open.
#[derive(Clone, Copy)]
struct Move<'s> {
    stage: Stage<'s>,
    slot: u16,
    from: usize,
    to: usize,
}

/// Moves the slot of a lock, or begins to; whether that was done.
pub(super) async fn migrate(
    stage: Stage<'_>,
    lock: usize,
    to: usize,
    steps: [Duration; 3],
    call_off: bool,
) -> bool {
    let site = stage.site;
    let (slot, shard) = site.homes.of(lock);
    let target = (shard + 1 + to % (site.shards() - 1)) % site.shards();
    let (Some(from), Some(to)) = (site.master_of(shard).await, site.master_of(target).await) else {
        return false;
    };
    let open = Move {
        stage,
        slot,
        from,
        to,
    };
    site.homes.moves(slot, Some(target));
    match open.any_way(steps, call_off).await {
        Ok(true) => {
            site.homes.moved(slot, target);
            if call_off {
                stage.facts.count("migration called off too late");
                return false;
            }
        }
        Ok(false) => site.homes.moves(slot, None),
        Err(error) => {
            stage
                .facts
                .trouble(format_args!("slot {slot} got stuck: {error}"));
            open.close_by_force().await;
        }
    }
    true
}

impl Move<'_> {
    /// Whether the slot has moved in the end: in one step every other time, where servers can, and key by key otherwise.
    async fn any_way(self, steps: [Duration; 3], call_off: bool) -> RedisResult<bool> {
        let [first, second, last] = steps;
        if last.as_micros().is_multiple_of(2) {
            let step = atomic::Step {
                slot: self.slot,
                from: self.from,
                to: self.to,
                times: [first / 4, second],
                call_off,
                fails_over: second.as_micros().is_multiple_of(3),
            };
            if let Some(moved) = atomic::moves(self.stage, step).await {
                return moved;
            }
        }
        self.go(steps, call_off).await
    }

    /// Whether the slot has moved in the end, key by key.
    async fn go(self, [first, second, last]: [Duration; 3], call_off: bool) -> RedisResult<bool> {
        let (from, to) = (self.id(self.from), self.id(self.to));
        self.set(self.to, &["IMPORTING", &from]).await?;
        self.set(self.from, &["MIGRATING", &to]).await?;
        sleep(first).await;
        let by_force = call_off && self.stage.plan.lossy && second.as_millis().is_multiple_of(2);
        if !call_off || by_force {
            self.carry(self.from, self.to).await?;
        }
        sleep(second).await;
        if by_force {
            self.take_back(last).await?;
            return Ok(false);
        }
        if call_off && self.stays(&from).await? {
            return Ok(false);
        }
        self.carry(self.from, self.to).await?;
        self.set(self.to, &["NODE", &to]).await?;
        // The new owner greets the old one, which so hears of its epoch now.
        let port = self.stage.site.node(self.from).port().to_string();
        let meet = ["CLUSTER", "MEET", "127.0.0.1", &port];
        self.stage.site.node(self.to).command(&meet).await?;
        sleep(last).await;
        for node in 0..self.stage.site.len() {
            // Replicas refuse, and the old owner may have heard by the bus.
            let told = self.set(node, &["NODE", &to]).await;
            if node == self.from {
                told?;
            }
        }
        Ok(true)
    }

    /// Whether the slot stays: the importing server closes it first, so that nothing comes there any more. Redis has no
    /// way to bring back the keys that are there by then before others may make them anew.
    async fn stays(self, from: &str) -> RedisResult<bool> {
        self.set(self.to, &["STABLE"]).await?;
        if self.keys(self.to).await?.is_empty() {
            self.set(self.from, &["STABLE"]).await?;
            return Ok(true);
        }
        self.set(self.to, &["IMPORTING", from]).await?;
        Ok(false)
    }

    /// Brings keys back all the same. Until all are, there may be two of each lock.
    async fn take_back(self, last: Duration) -> RedisResult<()> {
        let locks = self.stage.site.homes.in_slot(self.slot);
        let loss = self
            .stage
            .facts
            .loses("keys of a slot taken back", locks, now_ns());
        let origin = self.id(self.from);
        self.set(self.from, &["STABLE"]).await?;
        sleep(last / 4).await;
        loop {
            self.carry(self.to, self.from).await?;
            self.set(self.to, &["STABLE"]).await?;
            if self.keys(self.to).await?.is_empty() {
                break;
            }
            self.set(self.to, &["IMPORTING", &origin]).await?;
        }
        self.stage.facts.has_lost(loss);
        Ok(())
    }

    /// Closes what is open, whatever that loses.
    async fn close_by_force(self) {
        let site = self.stage.site;
        let locks = site.homes.in_slot(self.slot);
        let from = now_ns();
        for node in 0..site.len() {
            // Only masters have it open.
            let _ = self.set(node, &["STABLE"]).await;
        }
        let owner = site.owner(self.slot).await.unwrap_or(self.from);
        site.homes.moved(self.slot, owner % site.shards());
        self.stage
            .facts
            .lost("a migration that got stuck", locks, from);
    }

    fn id(self, node: usize) -> String {
        self.stage.site.id(node).unwrap_or_default().to_owned()
    }

    async fn set(self, node: usize, what: &[&str]) -> RedisResult<()> {
        let slot = self.slot.to_string();
        let mut command = vec!["CLUSTER", "SETSLOT", &slot];
        command.extend(what);
        self.stage.site.node(node).command(&command).await.map(drop)
    }

    async fn keys(self, node: usize) -> RedisResult<Vec<String>> {
        let slot = self.slot.to_string();
        let command = ["CLUSTER", "GETKEYSINSLOT", &slot, "100"];
        let answer = self.stage.site.node(node).command(&command).await?;
        Ok(redis::from_redis_value(answer)?)
    }

    /// Moves all keys of the slot, however often that has to be tried. Of a key that is at both by then, the one at the
    /// source is that which clients were served.
    async fn carry(self, from: usize, to: usize) -> RedisResult<()> {
        let site = self.stage.site;
        let port = site.node(to).port().to_string();
        let mut failed = String::new();
        for _ in 0..TRIES {
            let keys = self.keys(from).await?;
            if keys.is_empty() {
                return Ok(());
            }
            let mut command = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "1000"];
            if failed.contains("BUSYKEY") {
                command.push("REPLACE");
            }
            command.push("KEYS");
            command.extend(keys.iter().map(String::as_str));
            if let Err(error) = site.node(from).command(&command).await {
                failed = error.to_string();
                sleep(PAUSE).await;
            }
        }
        Err((redis::ErrorKind::Io, "keys do not move", failed).into())
    }
}
