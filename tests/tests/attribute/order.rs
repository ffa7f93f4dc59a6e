//! Under and above other attributes.

use dlock::{Client, Error, distributed_lock};
use dlock_tests::{connect, unique_prefix};

#[tracing::instrument(skip_all)]
#[distributed_lock(key = "order", client = client)]
async fn instrumented_outside(client: &Client) -> Result<u64, Error> {
    tokio::task::yield_now().await;
    Ok(dlock::current().map_or(0, |lock| lock.fencing_token().as_u64()))
}

#[distributed_lock(key = "order", client = client)]
#[tracing::instrument(skip_all, err)]
async fn instrumented_inside(client: &Client) -> Result<u64, Error> {
    tokio::task::yield_now().await;
    Ok(dlock::current().map_or(0, |lock| lock.fencing_token().as_u64()))
}

#[tokio::test]
async fn instrument_works_on_either_side() {
    let client = connect("memory://", &unique_prefix()).await;
    assert!(instrumented_outside(&client).await.expect("free") > 0);
    assert!(instrumented_inside(&client).await.expect("free") > 0);
}

#[distributed_lock(key = "test", client = connect("memory://", "order").await)]
#[tokio::test]
async fn above_a_test_attribute_the_lock_is_taken_inside_the_runtime() -> Result<(), Error> {
    tokio::task::yield_now().await;
    assert!(dlock::current().is_some());
    Ok(())
}

/// `#[tokio::test]` comes first and leaves a function that is not async.
#[tokio::test]
#[distributed_lock(key = "test", client = dlock::blocking::Client::connect("memory://")?)]
async fn below_a_test_attribute_the_lock_is_taken_around_the_runtime() -> Result<(), Error> {
    tokio::task::yield_now().await;
    assert!(dlock::current().is_some());
    Ok(())
}
