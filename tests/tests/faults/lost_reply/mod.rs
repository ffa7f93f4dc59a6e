//! Every reply lost once after its request was executed, and every request lost once before.

mod under_load;

use std::{future::Future, time::Duration};

use dlock::{__internals::Script, LockMode};
use dlock_tests::{Cut, ProxiedLock, SOON, queue, wait_free, wait_until, wait_waiters};

const LEASE: Duration = Duration::from_millis(1500);

async fn holders(line: &ProxiedLock) -> usize {
    line.state().await.holders.len()
}

/// Runs a scene for each way of cutting.
async fn for_each_cut<F: Future<Output = ()>>(scene: impl Fn(ProxiedLock, Cut) -> F) {
    for how in [Cut::Reply, Cut::Request] {
        scene(ProxiedLock::start(|client| client.lease(LEASE)).await, how).await;
    }
}

#[tokio::test]
async fn acquire() {
    for_each_cut(async |line: ProxiedLock, how| {
        line.cut(how, Script::Acquire);
        let guard = line.lock.write().await.expect("sent again");
        assert_eq!(line.proxy.counters().cuts, 1);
        let info = line.state().await;
        assert_eq!(info.holders.len(), 1, "{how:?}");
        assert_eq!(info.last_token, Some(guard.fencing_token()), "one grant");
        guard.release().await.expect("held to the end");
        assert_eq!(holders(&line).await, 0);

        let reader = line.witness.read().await.expect("free");
        line.cut(how, Script::Acquire);
        let guard = line.lock.try_read().await.expect("sent again");
        assert_eq!(holders(&line).await, 2);
        drop((guard.expect("readers share"), reader));
        wait_free(&line.witness).await;
    })
    .await;
}

#[tokio::test]
async fn acquire_that_queues() {
    for_each_cut(async |line: ProxiedLock, how| {
        let first = line.witness.write().await.expect("free");
        line.cut(how, Script::Acquire);
        let waiting = queue(&line.lock);
        line.wait_cut().await;
        wait_waiters(&line.witness, 1).await;
        first.release().await.expect("held to the end");
        let guard = waiting.await.expect("no panic").expect("its turn");
        assert_eq!(holders(&line).await, 1);
        guard.release().await.expect("held to the end");
        wait_free(&line.witness).await;
    })
    .await;
}

#[tokio::test]
async fn release() {
    for_each_cut(async |line: ProxiedLock, how| {
        let guard = line.lock.write().await.expect("free");
        let next = queue(&line.witness);
        wait_waiters(&line.witness, 1).await;
        line.cut(how, Script::Release);
        guard
            .release()
            .await
            .expect("held to the end, whatever the second one finds");
        // The second release has not touched the next hold.
        let next = next.await.expect("no panic").expect("its turn");
        assert_eq!(holders(&line).await, 1, "{how:?}");
        next.check().expect("still held");
        next.release().await.expect("held to the end");
        assert_eq!(line.proxy.counters().cuts, 1);
    })
    .await;
}

/// There are no waiters, but another client may take the lock before the release is sent again.
#[tokio::test]
async fn release_without_a_script() {
    for_each_cut(async |line: ProxiedLock, how| {
        let guard = line.lock.write().await.expect("free");
        line.cut_at(how, "HDEL");
        let next = tokio::spawn({
            let lock = line.witness.clone();
            async move {
                loop {
                    if let Some(guard) = lock.try_write().await.expect("answered") {
                        return guard;
                    }
                }
            }
        });
        guard.release().await.expect("held to the end");
        assert_eq!(line.proxy.counters().cuts, 1, "{how:?}");
        let next = next.await.expect("no panic");
        next.check()
            .expect("the second release is not of this hold");
        next.release().await.expect("held to the end");
        assert_eq!(holders(&line).await, 0);
    })
    .await;
    for_each_cut(async |line: ProxiedLock, how| {
        let guard = line.lock.read().await.expect("free");
        line.cut_at(how, "HDEL");
        drop(guard);
        line.wait_cut().await;
        line.client.shutdown().await.expect("nothing is left");
        assert_eq!(holders(&line).await, 0, "{how:?}");
    })
    .await;
}

#[tokio::test]
async fn release_of_a_dropped_guard() {
    for_each_cut(async |line: ProxiedLock, how| {
        let guards = (
            line.lock.read().await.expect("free"),
            line.witness.read().await.expect("readers share"),
        );
        line.cut(how, Script::Release);
        drop(guards.0);
        line.wait_cut().await;
        // One reader less, not two.
        wait_until(SOON, "the release is delivered", || async {
            holders(&line).await == 1
        })
        .await;
        line.client.shutdown().await.expect("nothing is left");
        let info = line.state().await;
        assert_eq!(info.holders.len(), 1, "{how:?}");
        assert_eq!(info.mode(), Some(LockMode::Read));
        guards.1.release().await.expect("held to the end");
    })
    .await;
}

#[tokio::test]
async fn renew() {
    for_each_cut(async |line: ProxiedLock, how| {
        let guard = line.lock.write().await.expect("free");
        line.cut(how, Script::Renew);
        line.wait_cut().await;
        let outcome = tokio::time::timeout(LEASE, guard.lost()).await;
        assert!(
            outcome.is_err(),
            "{how:?}: an unknown outcome is not a loss"
        );
        guard.release().await.expect("held to the end");
        assert_eq!(holders(&line).await, 0);
    })
    .await;
}

/// At the end of a slice: with another client waiting, and without.
#[tokio::test]
async fn yield_to_others() {
    for_each_cut(async |line: ProxiedLock, how| {
        for somebody_waits in [false, true] {
            let cuts = line.proxy.counters().cuts;
            let guard = line.lock.write().await.expect("free");
            let elsewhere = tokio::spawn({
                let lock = line.witness.clone();
                async move {
                    if somebody_waits {
                        let guard = lock.write().await.expect("its turn");
                        guard.release().await.expect("held to the end");
                    }
                }
            });
            if somebody_waits {
                wait_waiters(&line.witness, 1).await;
            }
            let local = queue(&line.lock);
            // Longer than a slice, so that the hand-over has to ask.
            tokio::time::sleep(Duration::from_millis(10)).await;
            line.cut(how, Script::Yield);
            let before = guard.fencing_token();
            guard.release().await.expect("held to the end");
            let guard = local.await.expect("no panic").expect("its turn");
            assert!(guard.fencing_token() > before);
            assert_eq!(line.proxy.counters().cuts, cuts + 1);
            elsewhere.await.expect("no panic");
            assert_eq!(holders(&line).await, 1, "{how:?}, {somebody_waits}");
            guard.release().await.expect("held to the end");
            wait_free(&line.witness).await;
        }
    })
    .await;
}

#[tokio::test]
async fn abandon() {
    for_each_cut(async |line: ProxiedLock, how| {
        let first = line.witness.write().await.expect("free");
        let waiting = tokio::spawn({
            let lock = line.lock.clone();
            async move { lock.write().await.map(drop) }
        });
        wait_waiters(&line.witness, 1).await;
        line.cut(how, Script::Abandon);
        waiting.abort();
        line.wait_cut().await;
        wait_waiters(&line.witness, 0).await;
        first.release().await.expect("held to the end");
        let guard = line.witness.try_write().await.expect("answered");
        drop(guard.expect("free"));
        wait_free(&line.witness).await;
    })
    .await;
}
