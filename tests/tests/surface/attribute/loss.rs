//! `on_lost` and `max_hold`: what becomes of a body whose lock is gone.

use std::sync::atomic::Ordering;

use dlock::{Client, Error, ErrorKind, LossReason, distributed_lock};
use dlock_tests::{connect, shared_cluster, stores, unique_prefix};

use crate::attribute::stage::{Stage, write_later};

#[tokio::test]
async fn a_body_whose_lock_was_removed_writes_no_more() {
    let cluster = shared_cluster().await;
    let client = connect(&cluster.url(), &unique_prefix()).await;
    let stage = Stage::default();
    let running = tokio::spawn(write_later(client.clone(), stage.clone()));
    stage.inside.notified().await;
    let lock = client.rw_lock("order").expect("valid");
    let _: u64 = cluster
        .query(lock.key().as_str(), &["DEL", lock.key().as_str()])
        .await;
    let error = running
        .await
        .expect("no panic")
        .expect_err("the lock is gone");
    assert!(error.is_lost(), "{error}");
    assert!(
        stage.dropped.load(Ordering::SeqCst),
        "dropped before the caller hears of it"
    );
    stage.go_on.notify_one();
    assert!(!stage.wrote.load(Ordering::SeqCst));
}

#[distributed_lock(key = "order", client = client)]
async fn is_removed(client: &Client) -> Result<(), Error> {
    let lock = client.rw_lock("order")?;
    for holder in lock.inspect().await?.holders {
        lock.force_release(&holder.id).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_lock_that_the_server_took_away_before_the_end_is_no_success() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let error = is_removed(&client).await.expect_err("it was taken away");
        assert_eq!(error.kind(), ErrorKind::Lost(LossReason::Removed));
    }
}

#[distributed_lock(key = "order", client = client, lease = "200ms", max_hold = "200ms")]
async fn stuck(client: &Client) -> Result<(), Error> {
    std::future::pending().await
}

#[tokio::test]
async fn a_body_stuck_beyond_max_hold_is_dropped() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let error = stuck(&client).await.expect_err("held for long enough");
        assert!(error.is_lost(), "{error}");
    }
}

#[distributed_lock(key = "b", client = client)]
async fn hold_more(client: &Client) -> Result<(), Error> {
    std::future::pending().await
}

#[distributed_lock(keys = ["a", "c"], client = client, lease = "200ms", max_hold = "200ms")]
async fn nested_in_several(client: &Client) -> Result<(), Error> {
    hold_more(client).await
}

#[tokio::test]
async fn losing_an_outer_lock_stops_what_runs_inside() {
    let client = connect("memory://", &unique_prefix()).await;
    let error = nested_in_several(&client)
        .await
        .expect_err("held for long enough");
    assert!(
        error.to_string().contains("`a`") || error.to_string().contains("`c`"),
        "{error}"
    );
    let inner = client.rw_lock("b").expect("valid").write().await;
    drop(inner.expect("released with the body"));
}

#[distributed_lock(
    key = "order", client = client, lease = "200ms", max_hold = "200ms", on_lost = "continue", guard = lock
)]
async fn go_on(client: &Client) -> Result<bool, Error> {
    lock.lost().await;
    tokio::task::yield_now().await;
    Ok(lock.is_lost())
}

#[tokio::test]
async fn on_lost_continue_lets_the_body_finish() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        assert!(go_on(&client).await.expect("the body decides"));
    }
}
