//! A waiter that died at the head of the line is passed over at once.

use std::time::{Duration, Instant};

use dlock::{LockMode, RwLock};
use dlock_tests::{
    RedisCluster, RedisServer, Worker, connect, scaled, sharded_channels, shared_cluster,
    shared_server, slot_of_lock, unique_prefix, wait_free, wait_listening, wait_waiters,
};

/// Far less than a place in the line lasts.
const PROMPT: Duration = Duration::from_millis(300);

/// Where the lock is, and who can tell who listens.
struct Place {
    url: String,
    prefix: String,
    server: &'static RedisServer,
}

impl Place {
    async fn on_server() -> Self {
        let server = shared_server().await;
        Self {
            url: server.url(),
            prefix: unique_prefix(),
            server,
        }
    }

    async fn on(cluster: &'static RedisCluster) -> Self {
        let prefix = unique_prefix();
        let master = cluster.master_of(slot_of_lock(&prefix, "one")).await;
        Self {
            url: cluster.url(),
            prefix,
            server: cluster.node(master),
        }
    }

    async fn lock(&self) -> RwLock {
        let client = connect(&self.url, &self.prefix).await;
        client.rw_lock("one").expect("a valid name")
    }

    /// A process that waits for the lock, and can be heard of.
    fn waiting_process(&self, mode: &str) -> Worker {
        Worker::spawn(
            env!("CARGO_BIN_EXE_worker"),
            [
                mode.to_owned(),
                format!("url={}", self.url),
                format!("prefix={}", self.prefix),
                "lock=one".to_owned(),
                "lease_ms=10000".to_owned(),
            ],
        )
    }

    /// Kills who is first in line, and tells how long the next one then waits for a lock that is given back.
    async fn hand_over_past_the_dead(&self, dead: LockMode) -> Duration {
        let (holder, next) = (self.lock().await, self.lock().await);
        let guard = holder.write().await.expect("free");
        let mode = match dead {
            LockMode::Read => "read",
            LockMode::Write => "write",
        };
        let process = self.waiting_process(mode);
        wait_waiters(&holder, 1).await;
        wait_listening(self.server, &self.prefix, 1).await;
        let waiting = tokio::spawn(async move {
            let guard = next.write().await.expect("its turn");
            (Instant::now(), guard)
        });
        wait_waiters(&holder, 2).await;
        wait_listening(self.server, &self.prefix, 2).await;
        process.kill();
        wait_listening(self.server, &self.prefix, 1).await;
        let start = Instant::now();
        guard.release().await.expect("held to the end");
        let (granted, guard) = waiting.await.expect("no panic");
        guard.release().await.expect("held to the end");
        wait_free(&holder).await;
        granted - start
    }
}

async fn is_prompt(place: &Place) {
    for dead in [LockMode::Write, LockMode::Read] {
        let mut rounds = Vec::new();
        for _ in 0..3 {
            rounds.push(place.hand_over_past_the_dead(dead).await);
        }
        println!("past a dead {dead:?}: {rounds:?}");
        rounds.sort_unstable();
        assert!(rounds[1] < scaled(PROMPT), "{dead:?}: {rounds:?}");
    }
}

#[tokio::test]
async fn on_a_server() {
    is_prompt(&Place::on_server().await).await;
}

#[tokio::test]
async fn on_a_cluster() {
    let place = Place::on(shared_cluster().await).await;
    if sharded_channels() {
        is_prompt(&place).await;
    } else {
        // No server can count the subscribers there: the next one waits until the place has ended, and no longer.
        let waited = place.hand_over_past_the_dead(LockMode::Write).await;
        assert!(waited < scaled(Duration::from_secs(4)), "{waited:?}");
    }
}
