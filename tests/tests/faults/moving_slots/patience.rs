//! How long who waits goes on waiting while servers cannot serve the lock: as long as it wants to.

use std::time::{Duration, Instant};

use dlock::{Client, ErrorKind, RwLock, TimeoutStep, WriteGuard};
use dlock_tests::{
    RedisCluster, SOON, builder, its_turn, queue, scaled, slot_of_lock, unique_prefix, wait_free,
    wait_until, wait_waiters,
};

use crate::rounds::two_masters;

/// How long a client tries one request again.
const RETRY: Duration = Duration::from_millis(500);
/// How long the waiters wait.
const PATIENCE: Duration = Duration::from_secs(2);

/// A client that holds the lock, and a client that is about to wait for it.
struct Scene {
    cluster: RedisCluster,
    slot: u16,
    held: RwLock,
    guard: WriteGuard,
    waiter: Client,
}

impl Scene {
    async fn new() -> Self {
        let (cluster, prefix) = (two_masters().await, unique_prefix());
        let client = async || {
            let builder = builder(&cluster.url(), &prefix)
                .lease(scaled(Duration::from_secs(30)))
                .response_timeout(RETRY / 2)
                .retry_for(RETRY);
            builder.build().await.expect("the cluster is up")
        };
        let held = client().await.rw_lock("moving").expect("a valid name");
        let guard = held.write().await.expect("free");
        Self {
            slot: slot_of_lock(&prefix, "moving"),
            guard,
            waiter: client().await,
            held,
            cluster,
        }
    }

    fn lock(&self) -> RwLock {
        self.waiter.rw_lock("moving").expect("a valid name")
    }

    /// No node serves the lock's slot: the servers answer, and each answer is CLUSTERDOWN.
    async fn take_down(&self) {
        self.all_say("DELSLOTS", "cluster_state:fail").await;
    }

    async fn bring_up(&self, owner: usize) {
        let slot = self.slot.to_string();
        let add = ["CLUSTER", "ADDSLOTS", &slot];
        self.cluster.node(owner).query::<()>(&add).await;
        self.cluster.wait_ok().await;
    }

    async fn all_say(&self, change: &str, state: &str) {
        let slot = self.slot.to_string();
        wait_until(SOON, state, || async {
            let mut all = true;
            for number in 0..self.cluster.len() {
                let node = self.cluster.node(number);
                // Refused where it has been done; what one node has gone back to, by a packet from before, is undone.
                let _ = node.command(&["CLUSTER", change, &slot]).await;
                let info: String = node.query(&["CLUSTER", "INFO"]).await;
                all &= info.contains(state);
            }
            all
        })
        .await;
    }
}

async fn timeout_of(lock: &RwLock, patience: Duration) -> ErrorKind {
    let start = Instant::now();
    let error = lock.write_timeout(patience).await;
    let waited = start.elapsed();
    let error = error.expect_err("somebody else holds it");
    assert!(
        waited >= patience && waited < patience + scaled(SOON),
        "after {waited:?}: {error}"
    );
    error.kind()
}

#[tokio::test]
async fn a_waiter_gets_its_own_timeout_while_the_slot_moves() {
    let scene = Scene::new().await;
    let to = 1 - scene.cluster.master_of(scene.slot).await;
    let waiting = tokio::spawn({
        let lock = scene.lock();
        async move { timeout_of(&lock, PATIENCE).await }
    });
    wait_waiters(&scene.held, 1).await;
    let migration = scene.cluster.begin_migration(scene.slot, to).await;
    // The client that came before the slot moved, and the client that came after.
    let late = timeout_of(&scene.lock(), PATIENCE).await;
    let early = waiting.await.expect("no panic");
    let own = ErrorKind::Timeout(TimeoutStep::Wait);
    assert_eq!((early, late), (own, own));
    migration.finish().await;
    scene.guard.release().await.expect("held to the end");
    wait_free(&scene.held).await;
}

/// It waits for as long as it wants to, and is not told that others hold the lock: no node knows that any more.
#[tokio::test]
async fn a_wait_ends_with_what_a_cluster_says_that_is_down() {
    let scene = Scene::new().await;
    let owner = scene.cluster.master_of(scene.slot).await;
    let waiting = tokio::spawn({
        let lock = scene.lock();
        async move { timeout_of(&lock, scaled(2 * PATIENCE)).await }
    });
    wait_waiters(&scene.held, 1).await;
    scene.take_down().await;
    assert_eq!(waiting.await.expect("no panic"), ErrorKind::Unavailable);
    scene.bring_up(owner).await;
    scene.guard.release().await.expect("held to the end");
    wait_free(&scene.held).await;
}

#[tokio::test]
async fn who_waits_for_ever_outlasts_a_cluster_that_is_down() {
    let scene = Scene::new().await;
    let owner = scene.cluster.master_of(scene.slot).await;
    let mut waiting = queue(&scene.lock());
    wait_waiters(&scene.held, 1).await;
    scene.take_down().await;
    // Several times as long as one request is tried.
    let ended = tokio::time::timeout(5 * RETRY, &mut waiting).await;
    assert!(ended.is_err(), "it waits on, and not: {ended:?}");
    scene.bring_up(owner).await;
    scene.guard.release().await.expect("held to the end");
    let guard = its_turn(waiting).await;
    guard.release().await.expect("held to the end");
    wait_free(&scene.held).await;
}
