//! Several runtimes of Tokio.

use std::time::{Duration, Instant};

use dlock::{Client, Error, distributed_lock};
use dlock_tests::{scaled, wait_until, wait_waiters};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::{SOON, Stage, one_thread, short};

#[distributed_lock(key = "called", client = client)]
async fn call(client: &Client) -> Result<(), Error> {
    tokio::task::yield_now().await;
    Ok(())
}

#[distributed_lock(key = "panics", client = client)]
async fn panics(client: Client) -> Result<(), Error> {
    tokio::task::yield_now().await;
    panic!("as planned");
}

/// All that a client does, in a runtime that is not the one it was built on.
async fn use_everything(stage: &Stage) {
    // The first request may have to find out that no task drives the connection any more.
    timeout(scaled(SOON / 2), call(&stage.client))
        .await
        .expect("in time")
        .expect("free");
    let lock = stage.lock("short").lease(short());
    let guard = lock.write().await.expect("free");
    let began = Instant::now();
    wait_until(SOON, "its lease has passed twice", || async {
        guard.check().expect("renewed");
        began.elapsed() > 2 * short()
    })
    .await;
    guard.release().await.expect("held to the end");

    drop(stage.lock("dropped").write().await.expect("free"));
    let dropped = tokio::spawn(panics(stage.client.clone())).await;
    assert!(dropped.expect_err("it panics").is_panic());
    let held = stage.lock("waited").write().await.expect("free");
    let waiting = stage.lock("waited");
    let cancelled = timeout(Duration::from_millis(50), waiting.write()).await;
    assert!(cancelled.is_err(), "it is held");
    held.release().await.expect("held to the end");
}

fn nothing_is_left(stage: &Stage) {
    for name in ["called", "short", "dropped", "panics", "waited"] {
        stage.wait_free(name);
    }
}

#[test]
fn a_client_serves_the_runtimes_that_come_after_its_own() {
    for mut stage in Stage::each() {
        drop(stage.first.take());
        for _ in 0..2 {
            let next = one_thread();
            next.block_on(use_everything(&stage));
            drop(next);
            nothing_is_left(&stage);
        }
    }
}

#[test]
fn a_client_serves_a_runtime_although_nobody_drives_its_own() {
    for stage in Stage::each() {
        let next = one_thread();
        next.block_on(use_everything(&stage));
        nothing_is_left(&stage);
        drop(next);
        // And its own again.
        let first = stage.first.as_ref().expect("nobody took it");
        first.block_on(use_everything(&stage));
        nothing_is_left(&stage);
    }
}

#[test]
fn a_client_serves_runtimes_side_by_side() {
    for stage in Stage::each() {
        std::thread::scope(|scope| {
            let threads = [(); 2].map(|()| {
                scope.spawn(|| {
                    one_thread().block_on(async {
                        for _ in 0..200 {
                            call(&stage.client).await.expect("free soon");
                        }
                    });
                })
            });
            let first = stage.first.as_ref().expect("nobody took it");
            first.block_on(async {
                for _ in 0..200 {
                    call(&stage.client).await.expect("free soon");
                }
            });
            for thread in threads {
                thread.join().expect("no panic");
            }
        });
        nothing_is_left(&stage);
    }
}

/// How long the client takes at most to have a lock that the witness passes on.
fn hand_over(stage: &Stage, runtime: &Runtime) -> Duration {
    runtime.block_on(async {
        let other = stage.witness.rw_lock("passed").expect("valid");
        let own = stage.lock("passed");
        let mut longest = Duration::ZERO;
        for _ in 0..5 {
            let held = other.write().await.expect("free");
            let waiting = tokio::spawn({
                let own = own.clone();
                async move { own.write().await.map(|guard| (Instant::now(), guard)) }
            });
            wait_waiters(&other, 1).await;
            stage.wait_heard(&other).await;
            let released = Instant::now();
            held.release().await.expect("held to the end");
            let (entered, guard) = waiting.await.expect("no panic").expect("granted");
            longest = longest.max(entered - released);
            guard.release().await.expect("held to the end");
        }
        longest
    })
}

#[test]
fn messages_are_heard_after_the_runtime_that_listened_has_gone() {
    for mut stage in Stage::each() {
        hand_over(&stage, stage.first.as_ref().expect("there"));
        drop(stage.first.take());
        let next = one_thread();
        hand_over(&stage, &next);
        let took = hand_over(&stage, &next);
        // Without messages a waiter looks every 300 ms.
        assert!(took < scaled(Duration::from_millis(150)), "{took:?}");
        stage.wait_free("passed");
    }
}
