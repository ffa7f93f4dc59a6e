//! What the nodes know: roles, slots, keys, statistics.

use std::time::Duration;

use super::{CommandStats, RedisCluster, view::View};
use crate::{RedisServer, slot::SLOTS, wait_for, wait_until};

impl RedisCluster {
    /// Waits until all live nodes report `cluster_state:ok`, agree about every slot and the epochs of those who
    /// own them, see the same live masters, and the live replicas of live masters are in sync.
    ///
    /// A slot that moves on before all know the epoch of its owner may be claimed by two: the next owner takes the
    /// largest epoch that it knows of.
    pub async fn wait_ok(&self) {
        wait_until(Duration::from_secs(30), "the cluster is ok", || async {
            self.is_ok().await
        })
        .await;
    }

    /// Whether all is as [`wait_ok`](Self::wait_ok) wants it.
    pub async fn is_ok(&self) -> bool {
        self.agrees().await.unwrap_or(false)
    }

    /// The number of the node that owns `slot`.
    pub async fn master_of(&self, slot: u16) -> usize {
        let limit = Duration::from_secs(10);
        wait_for(limit, "a live master owns the slot", || self.owner(slot)).await
    }

    /// The numbers of the live replicas of the node that owns `slot`.
    pub async fn replicas_of(&self, slot: u16) -> Vec<usize> {
        let master = &self.ids[self.master_of(slot).await];
        let mut replicas = Vec::new();
        for (number, view) in self.views().await {
            if view.myself().master.as_ref() == Some(master) {
                replicas.push(number);
            }
        }
        replicas
    }

    /// The numbers of the live nodes that are masters with slots.
    pub async fn masters(&self) -> Vec<usize> {
        let mut masters = Vec::new();
        for (number, view) in self.views().await {
            if !view.myself().slots.is_empty() {
                masters.push(number);
            }
        }
        masters
    }

    /// All keys that match `pattern`, from all live masters, sorted.
    pub async fn keys(&self, pattern: &str) -> Vec<String> {
        let mut keys = Vec::new();
        for number in self.masters().await {
            keys.extend(
                self.nodes[number]
                    .query::<Vec<String>>(&["KEYS", pattern])
                    .await,
            );
        }
        keys.sort();
        keys.dedup();
        keys
    }

    /// Sends a command to the master of `key`; panics on an error.
    pub async fn query<T: redis::FromRedisValue>(&self, key: &str, arguments: &[&str]) -> T {
        let master = self.master_of(crate::slot_of(key)).await;
        self.nodes[master].query(arguments).await
    }

    /// What the live nodes count in `INFO commandstats`, added up. Commands that scripts call count too.
    pub async fn command_stats(&self) -> CommandStats {
        let mut stats = CommandStats::default();
        for node in self.live() {
            stats.add(&node.query::<String>(&["INFO", "commandstats"]).await);
        }
        stats
    }

    pub(crate) fn live(&self) -> impl Iterator<Item = &RedisServer> {
        self.nodes.iter().filter(|node| node.is_live())
    }

    /// What each live node that answers thinks of the cluster.
    async fn views(&self) -> Vec<(usize, View)> {
        let mut views = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if node.is_live()
                && let Ok(text) = node.command(&["CLUSTER", "NODES"]).await
                && let Ok(text) = redis::from_redis_value::<String>(text)
            {
                views.push((number, View::parse(&text)));
            }
        }
        views
    }

    /// The live node that itself claims `slot`; with several, the one with the newest claim.
    pub async fn owner(&self, slot: u16) -> Option<usize> {
        let views = self.views().await;
        let claims = views
            .iter()
            .filter(|(_, view)| view.myself().owns(slot))
            .max_by_key(|(_, view)| view.myself().epoch);
        claims.map(|(number, _)| *number)
    }

    async fn agrees(&self) -> redis::RedisResult<bool> {
        let views = self.views().await;
        let Some((_, first)) = views.first() else {
            return Ok(false);
        };
        let owners = first.owners();
        let agreed = owners.len() == usize::from(SLOTS)
            && views.iter().all(|(_, view)| view.owners() == owners)
            && views
                .iter()
                .all(|(_, view)| view.claims() == first.claims())
            && views.len() == self.live().count();
        if !agreed {
            return Ok(false);
        }
        let live: Vec<&str> = views
            .iter()
            .map(|(number, _)| self.ids[*number].as_str())
            .collect();
        for (number, view) in &views {
            let text: String =
                redis::from_redis_value(self.nodes[*number].command(&["CLUSTER", "INFO"]).await?)?;
            let replicated = match &view.myself().master {
                Some(master) if live.contains(&master.as_str()) => self.nodes[*number]
                    .info("replication")
                    .await?
                    .contains("master_link_status:up"),
                _ => true,
            };
            if !text.contains("cluster_state:ok") || !replicated {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
