//! Under and above other attributes.

use dlock::{Client, Error, distributed_lock};
use dlock_tests::{connect, unique_prefix};

/// The span in which the lock was asked for.
fn span() -> &'static str {
    let span = tracing::Span::current();
    span.metadata().map_or("none", |about| about.name())
}

#[tracing::instrument(skip_all)]
#[distributed_lock(key = span(), client = client, guard = lock)]
async fn instrument_above(client: &Client) -> Result<String, Error> {
    tokio::task::yield_now().await;
    assert_eq!(span(), "instrument_above");
    Ok(lock.key().name().to_owned())
}

#[distributed_lock(key = span(), client = client, guard = lock)]
#[tracing::instrument(skip_all, err)]
async fn instrument_below(client: &Client) -> Result<String, Error> {
    tokio::task::yield_now().await;
    assert_eq!(span(), "held", "inside of what is around it");
    Ok(lock.key().name().to_owned())
}

#[tokio::test]
async fn an_instrument_below_spans_the_wait_and_one_above_does_not() {
    let client = connect("memory://", &unique_prefix()).await;
    // Another test that opens the first `held` span of the process while a subscriber is set may have that span turned off for
    // this subscriber, too. An acquire before waits for that.
    drop(client.rw_lock("first").expect("valid").write().await);
    let _subscriber = tracing::subscriber::set_default(tracing_subscriber::registry());
    assert_eq!(instrument_above(&client).await.expect("free"), "none");
    assert_eq!(
        instrument_below(&client).await.expect("free"),
        "instrument_below"
    );
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
