//! Re-entry: what one owner may hold beside what it holds already.

use std::time::Duration;

use dlock::{LockMode, RwLock};
use dlock_tests::{
    SOON, connect, scaled, stores, unique_prefix, wait_free, wait_until, wait_waiters,
};

/// One lock as seen by two processes, for one owner in both and for a stranger.
async fn owned_twice(url: &str) -> (RwLock, RwLock, RwLock) {
    let prefix = unique_prefix();
    let lock = async || {
        let client = connect(url, &prefix).await;
        client.rw_lock("order").expect("a valid name")
    };
    let here = lock().await;
    let there = lock().await.owner("workflow-7");
    (here.clone().owner("workflow-7"), there, here)
}

#[tokio::test]
async fn an_owner_enters_again_from_anywhere() {
    for url in stores().await {
        let (here, there, stranger) = owned_twice(&url).await;
        let first = here.write().await.expect("free");
        let again = here.try_write().await.expect("answered").expect("ours");
        let elsewhere = there.try_write().await.expect("answered").expect("ours");
        let reading = there.try_read().await.expect("answered").expect("ours");
        assert!(elsewhere.fencing_token() > again.fencing_token());
        assert!(again.fencing_token() > first.fencing_token());
        assert!(stranger.try_read().await.expect("answered").is_none());

        // Held until the last of them has gone, in whatever order.
        first.release().await.expect("held to the end");
        reading.release().await.expect("held to the end");
        again.release().await.expect("held to the end");
        assert!(stranger.try_read().await.expect("answered").is_none());
        elsewhere.release().await.expect("held to the end");
        let guard = stranger.try_write().await.expect("answered");
        drop(guard.expect("free"));
        wait_free(&stranger).await;
    }
}

#[tokio::test]
async fn releasing_the_write_leaves_the_read() {
    for url in stores().await {
        let (here, there, stranger) = owned_twice(&url).await;
        let writing = here.write().await.expect("free");
        let reading = there.read().await.expect("ours");
        let reader = tokio::spawn({
            let lock = stranger.clone();
            async move { lock.read().await }
        });
        wait_waiters(&stranger, 1).await;
        writing.release().await.expect("held to the end");
        // The downgrade lets in waiting readers, and no writer.
        let guard = reader.await.expect("no panic").expect("readers share");
        let info = stranger.inspect().await.expect("answered");
        assert_eq!(info.mode(), Some(LockMode::Read));
        assert_eq!(info.holders.len(), 2);
        assert!(stranger.try_write().await.expect("answered").is_none());
        guard.release().await.expect("held to the end");
        reading.release().await.expect("held to the end");
        wait_free(&stranger).await;
    }
}

#[tokio::test]
async fn a_reader_becomes_a_writer_only_when_it_reads_alone() {
    for url in stores().await {
        let (here, there, stranger) = owned_twice(&url).await;
        let reading = here.read().await.expect("free");
        let other = stranger.read().await.expect("readers share");
        let refused = there.write_timeout(scaled(SOON)).await;
        let refused = refused.expect_err("the other one could wait for us as well");
        assert!(refused.is_would_deadlock(), "{refused}");
        let text = refused.to_string();
        assert!(text.contains("release the read hold first"), "{text}");
        // The refusal has left nothing behind.
        assert!(
            stranger
                .inspect()
                .await
                .expect("answered")
                .waiters
                .is_empty()
        );
        assert!(there.try_write().await.expect("answered").is_none());

        other.release().await.expect("held to the end");
        let upgraded = there.write_timeout(scaled(SOON)).await.expect("alone");
        assert!(upgraded.fencing_token() > reading.fencing_token());
        upgraded.release().await.expect("held to the end");
        reading.release().await.expect("held to the end");
        wait_free(&stranger).await;
    }
}

#[tokio::test]
async fn an_owner_enters_again_past_those_who_wait() {
    for url in stores().await {
        let (here, there, stranger) = owned_twice(&url).await;
        let reading = here.read().await.expect("free");
        let waiting = tokio::spawn({
            let lock = stranger.clone();
            async move { lock.write().await.map(drop) }
        });
        wait_waiters(&stranger, 1).await;
        // Waiting behind the writer, who waits for this owner, would never end.
        let again = there.read_timeout(scaled(SOON)).await.expect("ours");
        let upgraded = there.write_timeout(scaled(SOON)).await.expect("alone");
        for released in [reading.release().await, again.release().await] {
            released.expect("held to the end");
        }
        upgraded.release().await.expect("held to the end");
        waiting.await.expect("no panic").expect("its turn");
        wait_free(&stranger).await;
    }
}

#[tokio::test]
async fn owners_keep_each_other_out() {
    for url in stores().await {
        let (here, _, stranger) = owned_twice(&url).await;
        let guard = here.write().await.expect("free");
        let other = stranger.clone().owner("workflow-8");
        assert!(other.try_read().await.expect("answered").is_none());
        // Two tasks without an owner are strangers to each other too, in one process as well.
        guard.release().await.expect("held to the end");
        let guard = stranger.write().await.expect("free");
        assert!(
            stranger
                .clone()
                .try_write()
                .await
                .expect("answered")
                .is_none()
        );
        drop(guard);
        wait_free(&stranger).await;
        for bad in [String::new(), "x".repeat(257)] {
            let refused = stranger.clone().owner(bad).write().await;
            assert!(refused.expect_err("a bad owner").is_invalid());
        }
    }
}

#[tokio::test]
async fn a_lost_hold_of_an_owner_does_not_end_the_others() {
    for url in stores().await {
        let (here, there, stranger) = owned_twice(&url).await;
        let lease = Duration::from_millis(250);
        let short = here.lease(lease).max_hold(lease);
        let brief = short.write().await.expect("free");
        let lasting = there.write().await.expect("ours");
        brief.lost().await;
        drop(brief);
        wait_until(SOON, "the short hold is gone", || async {
            stranger.inspect().await.expect("answered").holders.len() == 1
        })
        .await;
        assert!(stranger.try_read().await.expect("answered").is_none());
        lasting.check().expect("still held");
        lasting.release().await.expect("held to the end");
        wait_free(&stranger).await;
    }
}

#[tokio::test]
async fn an_owner_named_like_a_hold_is_a_stranger_to_it() {
    for url in stores().await {
        let (_, _, lock) = owned_twice(&url).await;
        let guard = lock.write().await.expect("free");
        let id = lock.inspect().await.expect("answered").holders[0]
            .id
            .clone();
        // By the same client too: it is the text that must not matter.
        for name in [id.clone(), format!("={id}"), format!("@{id}")] {
            let other = lock.clone().owner(name);
            let entered = other.try_write().await.expect("answered");
            assert!(entered.is_none(), "two writers: {entered:?}");
            let entered = other.try_read().await.expect("answered");
            assert!(entered.is_none(), "a reader beside a writer: {entered:?}");
        }
        guard.release().await.expect("held to the end");
        wait_free(&lock).await;
    }
}
