//! Bodies that block their thread: some keep their lock, and some end too late.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dlock::{Client, Error, distributed_lock};
use dlock_tests::{SOON, connect, scaled, stores, unique_prefix};

/// Renewed while its body blocks.
const LEASE: Duration = Duration::from_millis(1500);
/// Between two looks of a blocked thread.
const PAUSE: Duration = Duration::from_millis(5);

/// Blocks the thread until the function that calls it has lost its lock.
fn block() {
    let held = dlock::current().expect("called under a lock");
    let began = Instant::now();
    while !held.is_lost() {
        assert!(began.elapsed() < scaled(SOON), "held for too long");
        thread::sleep(PAUSE);
    }
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

#[distributed_lock(key = "order", client = client, lease = scaled(LEASE), guard = lock)]
async fn block_past_the_lease(client: &Client) -> Result<u32, Error> {
    let began = Instant::now();
    while began.elapsed() < 2 * scaled(LEASE) {
        lock.check()?;
        thread::sleep(PAUSE);
    }
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
