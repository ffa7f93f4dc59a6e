//! `on_lost` and `max_hold`: what becomes of a body whose lock is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dlock::{Client, Error, ErrorKind, LossReason, distributed_lock};
use dlock_tests::{connect, shared_cluster, stores, unique_prefix};
use tokio::sync::Notify;

/// Says when it is dropped.
struct Witness(Arc<AtomicBool>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[derive(Clone, Default)]
struct Stage {
    inside: Arc<Notify>,
    go_on: Arc<Notify>,
    wrote: Arc<AtomicBool>,
    dropped: Arc<AtomicBool>,
}

#[distributed_lock(key = "order", client = client, lease = "300ms")]
async fn write_later(client: Client, stage: Stage) -> Result<(), Error> {
    let _witness = Witness(stage.dropped);
    stage.inside.notify_one();
    stage.go_on.notified().await;
    stage.wrote.store(true, Ordering::SeqCst);
    Ok(())
}

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

/// More than what `max_hold = "200ms"` allows.
fn block() {
    std::thread::sleep(Duration::from_millis(400));
}

#[distributed_lock(key = "order", client = client, lease = "200ms", max_hold = "200ms")]
async fn write_after_a_pause(client: &Client, wrote: &AtomicBool) -> Result<(), Error> {
    block();
    tokio::task::yield_now().await;
    wrote.store(true, Ordering::SeqCst);
    Ok(())
}

#[tokio::test]
async fn after_a_pause_beyond_its_time_the_body_is_not_polled_again() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let wrote = AtomicBool::new(false);
        let error = write_after_a_pause(&client, &wrote)
            .await
            .expect_err("too late");
        assert!(error.is_lost(), "{error}");
        assert!(!wrote.into_inner());
    }
}

#[distributed_lock(key = "order", client = client, lease = "1500ms", guard = lock)]
async fn block_past_the_lease(client: &Client) -> Result<u32, Error> {
    std::thread::sleep(Duration::from_secs(3));
    lock.check()?;
    Ok(7)
}

#[tokio::test]
async fn a_body_that_blocks_its_runtime_keeps_its_lock() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let returned = block_past_the_lease(&client).await;
        assert_eq!(returned.expect("renewed meanwhile"), 7);
    }
}

#[distributed_lock(key = "order", client = client, lease = "200ms", max_hold = "200ms")]
async fn finish_late(client: &Client, own: bool) -> Result<u32, Error> {
    block();
    if own {
        return Err(client.rw_lock("").expect_err("no name"));
    }
    Ok(7)
}

#[distributed_lock(keys = ["a", "b"], client = client, lease = "200ms", max_hold = "200ms")]
async fn finish_both_late(client: &Client) -> Result<u32, Error> {
    block();
    Ok(7)
}

#[distributed_lock(key = "outer", client = client)]
async fn finish_late_inside(client: &Client) -> Result<u32, Error> {
    finish_late(client, false).await
}

#[distributed_lock(key = "order", client = client)]
async fn enter_again(client: &Client) -> Result<u32, Error> {
    block();
    Ok(7)
}

#[distributed_lock(key = "order", client = client, lease = "200ms", max_hold = "200ms", on_lost = "continue")]
async fn finish_late_inside_the_same(client: &Client) -> Result<Result<u32, Error>, Error> {
    Ok(enter_again(client).await)
}

#[tokio::test]
async fn a_body_that_ends_after_its_lock_was_lost_is_no_success() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        for late in [
            finish_late(&client, false).await,
            finish_both_late(&client).await,
            finish_late_inside(&client).await,
            finish_late_inside_the_same(&client).await.expect("goes on"),
        ] {
            let error = late.expect_err("too late");
            assert!(error.is_lost(), "{error}");
        }
        // What the body complains of itself says more.
        let own = finish_late(&client, true).await.expect_err("its own");
        assert!(own.is_invalid(), "{own}");
    }
}

#[distributed_lock(key = "order", client = client, wait = "5s", on_busy = Ok(1), max_hold = "200ms", lease = "200ms")]
async fn or_a_result(client: &Client) -> Result<u32, Error> {
    block();
    Ok(7)
}

#[distributed_lock(key = "order", client = client, wait = "5s", on_busy = 1, max_hold = "200ms", lease = "200ms")]
async fn or_a_value(client: &Client) -> u32 {
    block();
    7
}

#[distributed_lock(
    key = "order", client = client, max_hold = "200ms", lease = "200ms",
    on_busy = |error| if error.is_lost() { 2 } else { 3 }
)]
async fn or_a_closure(client: &Client) -> u32 {
    block();
    7
}

#[distributed_lock(key = "order", client = client, max_hold = "200ms", lease = "200ms", on_lost = "continue")]
async fn or_go_on(client: &Client) -> Result<u32, Error> {
    block();
    Ok(7)
}

#[tokio::test]
async fn a_late_end_is_answered_as_a_loss_on_the_way() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let error = or_a_result(&client).await.expect_err("too late");
        assert!(error.is_lost(), "{error}");
        assert_eq!(or_a_value(&client).await, 1);
        assert_eq!(or_a_closure(&client).await, 2);
        assert_eq!(or_go_on(&client).await.expect("told to"), 7);
    }
}

#[distributed_lock(key = "order", client = client)]
async fn is_removed(client: &Client) -> Result<(), Error> {
    let lock = client.rw_lock("order")?;
    for holder in lock.inspect().await?.holders {
        lock.evict(&holder.id).await?;
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

#[distributed_lock(key = "order", client = client)]
async fn panics(client: Client) -> Result<(), Error> {
    tokio::task::yield_now().await;
    panic!("the body's own fault")
}

#[tokio::test]
async fn a_panic_in_the_body_frees_the_lock() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let panicked = tokio::spawn(panics(client.clone())).await;
        assert!(panicked.expect_err("a panic").is_panic());
        let lock = client.rw_lock("order").expect("valid");
        lock.write()
            .await
            .expect("free")
            .release()
            .await
            .expect("held to the end");
        assert!(dlock::current().is_none());
    }
}

#[tokio::test]
async fn a_call_dropped_in_the_middle_frees_the_lock() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let stage = Stage::default();
        tokio::select! {
            _ = write_later(client.clone(), stage.clone()) => unreachable!("nobody lets it go on"),
            () = stage.inside.notified() => {}
        }
        assert!(stage.dropped.load(Ordering::SeqCst));
        let lock = client.rw_lock("order").expect("valid");
        lock.write()
            .await
            .expect("free")
            .release()
            .await
            .expect("held to the end");
    }
}
