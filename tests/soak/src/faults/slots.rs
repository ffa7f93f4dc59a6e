//! Slots that move, and those that stay after all: what operators' tools do.

use std::time::Duration;

use dlock_tests::now_ns;
use redis::RedisResult;
use tokio::time::sleep;

use super::Stage;

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
    let done = open.go(steps, call_off).await;
    match done {
        Ok(true) => site.homes.moved(slot, target),
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
    /// Whether the slot has moved in the end.
    async fn go(self, [first, second, last]: [Duration; 3], call_off: bool) -> RedisResult<bool> {
        let (from, to) = (self.id(self.from), self.id(self.to));
        self.set(self.to, &["IMPORTING", &from]).await?;
        self.set(self.from, &["MIGRATING", &to]).await?;
        sleep(first).await;
        if !call_off || second.as_millis() % 2 == 0 {
            self.carry(self.from, self.to).await?;
        }
        sleep(second).await;
        if call_off {
            self.stay(last).await?;
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

    /// The slot stays: keys go back, and the importing server closes it first. What came there in between, asked to by
    /// somebody who had been sent before, is a second lock beside the first: Redis has no way to prevent that.
    async fn stay(self, last: Duration) -> RedisResult<()> {
        let from = now_ns();
        let origin = self.id(self.from);
        self.carry(self.to, self.from).await?;
        sleep(last / 4).await;
        self.carry(self.to, self.from).await?;
        self.set(self.to, &["STABLE"]).await?;
        while !self.keys(self.to).await?.is_empty() {
            let locks = self.stage.site.homes.in_slot(self.slot);
            self.stage
                .facts
                .lost("a lock made where its slot did not go", locks, from);
            self.set(self.to, &["IMPORTING", &origin]).await?;
            self.carry(self.to, self.from).await?;
            self.set(self.to, &["STABLE"]).await?;
        }
        self.set(self.from, &["STABLE"]).await
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

    /// Moves all keys of the slot, however often that has to be tried. A key that is at both is a second lock.
    async fn carry(self, from: usize, to: usize) -> RedisResult<()> {
        let site = self.stage.site;
        let port = site.node(to).port().to_string();
        let begun = now_ns();
        let mut failed = None;
        for _ in 0..TRIES {
            let keys = self.keys(from).await?;
            if keys.is_empty() {
                return Ok(());
            }
            let mut command = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "1000"];
            let twice = failed
                .take()
                .is_some_and(|error: String| error.contains("BUSYKEY"));
            if twice {
                let locks = site.homes.in_slot(self.slot);
                self.stage.facts.lost("a key at two servers", locks, begun);
                command.push("REPLACE");
            }
            command.push("KEYS");
            command.extend(keys.iter().map(String::as_str));
            if let Err(error) = site.node(from).command(&command).await {
                failed = Some(error.to_string());
                sleep(PAUSE).await;
            }
        }
        let text = failed.unwrap_or_default();
        Err((redis::ErrorKind::Io, "keys do not move", text).into())
    }
}
