//! Moving a slot from one master to another, in one go or step by step.

use redis::Value;

use super::RedisCluster;
use crate::RedisServer;

/// How many keys one MIGRATE moves at most.
const BATCH: &str = "100";

/// A slot that has begun to move: the old owner answers ASK for keys it no longer has.
///
/// Stays like this until [`finish`](Self::finish) or [`cancel`](Self::cancel).
#[derive(Debug)]
pub struct SlotMigration<'c> {
    cluster: &'c RedisCluster,
    slot: u16,
    from: usize,
    to: usize,
}

impl RedisCluster {
    /// Moves `slot` with all its keys to master number `to`.
    pub async fn migrate_slot(&self, slot: u16, to: usize) {
        self.begin_migration(slot, to).await.finish().await;
    }

    /// Marks `slot` as moving to master number `to`, and moves no key yet.
    pub async fn begin_migration(&self, slot: u16, to: usize) -> SlotMigration<'_> {
        let from = self.master_of(slot).await;
        assert_ne!(from, to, "slot {slot} is there already");
        let migration = SlotMigration {
            cluster: self,
            slot,
            from,
            to,
        };
        migration
            .set_slot(to, &["IMPORTING", &self.ids[from]])
            .await;
        migration
            .set_slot(from, &["MIGRATING", &self.ids[to]])
            .await;
        migration
    }
}

impl SlotMigration<'_> {
    /// The number of the old owner.
    #[must_use]
    pub fn from(&self) -> usize {
        self.from
    }

    /// The number of the new owner.
    #[must_use]
    pub fn to(&self) -> usize {
        self.to
    }

    /// Moves these keys; one that does not exist is skipped.
    pub async fn move_keys(&self, keys: &[&str]) {
        let target = self.cluster.node(self.to);
        let port = target.port().to_string();
        let mut command = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "5000"];
        if let Some(password) = target.password() {
            command.extend(["AUTH", password]);
        }
        command.push("KEYS");
        command.extend(keys);
        // A node does nothing else while it moves keys: nodes that move some to one another would wait for each other.
        let _alone = self.cluster.moving.lock().await;
        self.source().query::<Value>(&command).await;
    }

    /// Moves all keys that are in the slot now.
    pub async fn move_all_keys(&self) {
        let slot = self.slot.to_string();
        loop {
            let command = ["CLUSTER", "GETKEYSINSLOT", &slot, BATCH];
            let keys: Vec<String> = self.source().query(&command).await;
            if keys.is_empty() {
                return;
            }
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            self.move_keys(&keys).await;
        }
    }

    /// Moves the remaining keys and tells every master who owns the slot now.
    pub async fn finish(self) {
        self.move_all_keys().await;
        // Two that end at once may take one epoch, after which the nodes may never agree.
        let _alone = self.cluster.ending.lock().await;
        let id = &self.cluster.ids[self.to];
        // The new owner first: were it last, a client could be sent back and forth between the two.
        self.set_slot(self.to, &["NODE", id]).await;
        self.tell_of_claim().await;
        self.set_slot(self.from, &["NODE", id]).await;
        for other in self.cluster.masters().await {
            if other != self.to && other != self.from {
                self.set_slot(other, &["NODE", id]).await;
            }
        }
        self.cluster.wait_ok().await;
    }

    /// Ends the migration where it began; keys that moved already move back.
    pub async fn cancel(self) {
        self.set_slot(self.from, &["STABLE"]).await;
        let back = SlotMigration {
            from: self.to,
            to: self.from,
            ..self
        };
        back.move_all_keys().await;
        back.set_slot(back.from, &["STABLE"]).await;
    }

    /// The new owner greets the old one, which so hears of its epoch now and not with the next heartbeat.
    async fn tell_of_claim(&self) {
        let port = self.source().port().to_string();
        let target = self.cluster.node(self.to);
        target
            .query::<Value>(&["CLUSTER", "MEET", "127.0.0.1", &port])
            .await;
    }

    fn source(&self) -> &RedisServer {
        self.cluster.node(self.from)
    }

    async fn set_slot(&self, node: usize, what: &[&str]) {
        let slot = self.slot.to_string();
        let mut command = vec!["CLUSTER", "SETSLOT", &slot];
        command.extend(what);
        self.cluster.node(node).query::<Value>(&command).await;
    }
}
