//! `linger`.

use std::time::Duration;

use dlock::{Client, Error, FencingToken, distributed_lock};
use dlock_tests::{RedisServer, builder, connect, stores, unique_prefix};

const CALLS: u64 = 1000;
/// The longest lease of a hold that may linger.
const LEASE: Duration = Duration::from_secs(2);

#[distributed_lock(key = "order", client = client, linger = "60s", guard = lock)]
async fn kept(client: &Client) -> Result<FencingToken, Error> {
    Ok(lock.fencing_token())
}

#[distributed_lock(keys = ["order", "stock"], client = client, linger = "60s", mode = "read")]
async fn both(client: &Client) -> Result<(), Error> {
    Ok(())
}

/// Scripts that the server runs while `calls` is awaited.
async fn scripts(server: &RedisServer, calls: impl Future<Output = ()>) -> u64 {
    let before = server.command_stats().await;
    calls.await;
    let ran = server.command_stats().await.since(&before);
    ran.scripts() + ran.calls("hdel")
}

#[tokio::test]
async fn calls_of_a_process_send_no_request_while_its_lock_lingers() {
    let server = RedisServer::start().await;
    let client = connect(&server.url(), &unique_prefix()).await;
    let mut last = kept(&client).await.expect("free");
    let calls = async {
        for _ in 0..CALLS {
            let token = kept(&client).await.expect("kept");
            assert!(token > last, "{token:?} after {last:?}");
            last = token;
        }
    };
    let ran = scripts(&server, Box::pin(calls)).await;
    assert!(ran < CALLS / 10, "{ran}");

    both(&client).await.expect("given back, then free");
    let calls = async {
        for _ in 0..CALLS {
            both(&client).await.expect("kept");
        }
    };
    let ran = scripts(&server, Box::pin(calls)).await;
    assert!(ran < CALLS / 10, "{ran}");
}

#[distributed_lock(key = "order", client = client, linger = "60s", lease = lease, guard = lock)]
async fn remaining(client: &Client, lease: Duration) -> Result<Duration, Error> {
    let info = client.rw_lock(lock.key().name())?.inspect().await?;
    assert!(info.holders[0].may_linger(), "{info:?}");
    Ok(info.holders[0].remaining)
}

#[tokio::test]
async fn the_lease_of_a_lock_that_may_linger_is_two_seconds_at_most() {
    for url in stores().await {
        for (asked, lease) in [(30_000, LEASE), (500, Duration::from_millis(500))] {
            let client = connect(&url, &unique_prefix()).await;
            let asked = Duration::from_millis(asked);
            let remaining = remaining(&client, asked).await.expect("free");
            assert!(remaining <= lease && remaining > lease / 4, "{remaining:?}");
        }
    }
}

#[distributed_lock(key = "order", client = client, linger = "0s")]
async fn not_kept(client: &Client) -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "order", client = client, linger = linger, min_hold = "0s")]
async fn kept_for(client: &Client, linger: Duration) -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "nightly", client = client, min_hold = "1ms")]
async fn has_min_hold(client: &Client) -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn the_attribute_goes_before_the_client() {
    for url in stores().await {
        let client = builder(&url, &unique_prefix()).linger(Duration::from_secs(60));
        let client = client.build().await.expect("up");
        let lock = client.rw_lock("order").expect("valid");
        not_kept(&client).await.expect("free");
        assert_eq!(lock.inspect().await.expect("up").holder_count(), 0);
        has_min_hold(&client).await.expect("free");
        let too_long = Duration::from_secs(61);
        let error = kept_for(&client, too_long).await.expect_err("too long");
        assert!(error.is_invalid(), "{error}");
    }
}

#[distributed_lock(key = "order", client = client, linger = "60s")]
fn kept_by_a_thread(client: &dlock::blocking::Client) -> Result<(), Error> {
    Ok(())
}

#[test]
fn threads_keep_locks_too() {
    let client = dlock::blocking::Client::connect("memory://").expect("memory is always there");
    let lock = client.rw_lock("order").expect("valid");
    let is_kept = || {
        let info = lock.inspect().expect("answers");
        info.holders.iter().any(dlock::HoldInfo::may_linger)
    };
    assert!(!is_kept());
    kept_by_a_thread(&client).expect("free");
    assert!(is_kept());
    let other = client.rw_lock("stock").expect("valid").linger(LEASE);
    let first = other.write().expect("free");
    let token = first.fencing_token();
    first.release().expect("held to the end");
    assert_eq!(other.inspect().expect("answers").holder_count(), 1);
    assert!(other.write().expect("kept").fencing_token() > token);
    client.shutdown().expect("given back");
}
