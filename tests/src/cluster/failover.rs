//! Masters that die, hang or step down.

use std::time::{Duration, Instant};

use redis::Value;

use super::RedisCluster;
use crate::{scaled, wait_for, wait_until};

/// For everything that waits for a vote of the cluster.
const ELECTION: Duration = Duration::from_secs(30);
/// How long servers try to let a replica take over from a live master, and a moment.
const GIVEN_UP: Duration = Duration::from_secs(6);
const LOOK: Duration = Duration::from_millis(20);

impl RedisCluster {
    /// Kills the master of `slot` and returns its number.
    pub async fn kill_master_of(&self, slot: u16) -> usize {
        let master = self.master_of(slot).await;
        self.node(master).kill();
        master
    }

    /// Freezes the master of `slot` and returns its number.
    pub async fn pause_master_of(&self, slot: u16) -> usize {
        let master = self.master_of(slot).await;
        self.node(master).pause();
        master
    }

    /// Waits until a node other than `old` owns `slot` and all live nodes agree; returns its number.
    pub async fn wait_failover(&self, slot: u16, old: usize) -> usize {
        let new = wait_for(ELECTION, "another node takes the slot", || async move {
            self.owner(slot).await.filter(|owner| *owner != old)
        })
        .await;
        self.wait_ok().await;
        new
    }

    /// Lets a replica take over from the live master of `slot`, in order (`CLUSTER FAILOVER`); returns the
    /// new master's number.
    pub async fn failover(&self, slot: u16) -> usize {
        let old = self.master_of(slot).await;
        wait_until(ELECTION, "a replica takes over", || async move {
            let Some(replica) = self.replicas_of(slot).await.first().copied() else {
                return false;
            };
            let replica = self.node(replica);
            if replica.command(&["CLUSTER", "FAILOVER"]).await.is_err() {
                return false;
            }
            // Servers give it up after a while, and then it has to be said again.
            let begun = Instant::now();
            while begun.elapsed() < scaled(GIVEN_UP) {
                let role = replica.command(&["ROLE"]).await;
                if let Ok(Value::Array(role)) = role
                    && role.first() == Some(&Value::BulkString(b"master".to_vec()))
                {
                    return true;
                }
                tokio::time::sleep(LOOK).await;
            }
            false
        })
        .await;
        self.wait_failover(slot, old).await
    }
}
