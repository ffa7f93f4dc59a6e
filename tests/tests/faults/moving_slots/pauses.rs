//! A server that pauses writes, as the source of a migration does while it hands a slot over: for milliseconds mostly, and
//! until a timeout if the hand-over fails.

use std::time::{Duration, Instant};

use dlock::{Client, ErrorKind};
use dlock_tests::{RedisServer, builder, scaled, unique_prefix, wait_waiters};

/// What the guide says outlasts a pause: one and a half times as long.
const PAUSE: Duration = Duration::from_secs(2);
const ENOUGH: Duration = Duration::from_millis(3300);
const TOO_SHORT: Duration = Duration::from_secs(1);

struct Scene {
    server: RedisServer,
    holder: Client,
    waiter: Client,
}

impl Scene {
    async fn new(lease: Duration) -> Self {
        let (server, prefix) = (RedisServer::start().await, unique_prefix());
        let client = async || {
            let builder = builder(&server.url(), &prefix)
                .lease(scaled(lease))
                .retry_for(2 * scaled(PAUSE));
            builder.build().await.expect("the server is up")
        };
        let (holder, waiter) = (client().await, client().await);
        Self {
            server,
            holder,
            waiter,
        }
    }

    async fn pause(&self) -> Instant {
        let lasts = scaled(PAUSE).as_millis().to_string();
        let pause = ["CLIENT", "PAUSE", &lasts, "WRITE"];
        self.server.query::<()>(&pause).await;
        Instant::now()
    }
}

#[tokio::test]
async fn a_lease_longer_than_one_and_a_half_times_a_write_pause_outlasts_it() {
    let scene = Scene::new(ENOUGH).await;
    let lock = scene.holder.rw_lock("paused").expect("a valid name");
    let guard = lock.write().await.expect("free");
    // At the worst moment: the next renewal is due right after.
    tokio::time::sleep(scaled(ENOUGH).mul_f64(0.3)).await;
    scene.pause().await;
    let outcome = tokio::time::timeout(2 * scaled(PAUSE), guard.lost()).await;
    assert!(outcome.is_err(), "lost");
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn a_lease_that_ends_within_a_write_pause_is_lost_before_another_gets_in() {
    let scene = Scene::new(TOO_SHORT).await;
    let lock = scene.holder.rw_lock("paused").expect("a valid name");
    let other = scene.waiter.rw_lock("paused").expect("a valid name");
    let guard = lock.write().await.expect("free");
    let waiting = tokio::spawn(async move {
        let guard = other.write().await.expect("its turn");
        (Instant::now(), guard)
    });
    wait_waiters(&lock, 1).await;
    let begun = scene.pause().await;
    let lost = tokio::time::timeout(scaled(PAUSE), guard.lost()).await;
    lost.expect("noticed while writes are paused");
    let noticed = Instant::now();
    assert!(matches!(
        guard.check().expect_err("lost").kind(),
        ErrorKind::Lost(_)
    ));
    let (granted, next) = waiting.await.expect("no panic");
    assert!(granted > noticed, "the loss was noticed late");
    assert!(granted >= begun + scaled(PAUSE), "writes were paused");
    assert!(next.fencing_token() > guard.fencing_token());
    next.release().await.expect("held to the end");
}
