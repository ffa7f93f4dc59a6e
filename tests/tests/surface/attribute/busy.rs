//! `on_busy`.

use dlock::{Client, Error, distributed_lock};
use dlock_tests::{connect, stores, unique_prefix};

#[distributed_lock(key = "nightly", client = client, wait = "none", on_busy = ())]
async fn job(client: &Client, runs: &mut u32) {
    *runs += 1;
}

#[distributed_lock(key = "nightly", client = client, wait = "500ms", on_busy = Ok(None))]
async fn report(client: &Client) -> Result<Option<u64>, Error> {
    Ok(Some(7))
}

#[tokio::test]
async fn a_busy_lock_gives_the_value_instead() {
    for url in stores().await {
        let prefix = unique_prefix();
        let (client, other) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        let mut runs = 0;
        job(&client, &mut runs).await;
        assert_eq!(report(&client).await.expect("free"), Some(7));
        let held = other.rw_lock("nightly").expect("valid").write().await;
        job(&client, &mut runs).await;
        assert_eq!(report(&client).await.expect("busy is no error"), None);
        assert_eq!(runs, 1);
        drop(held);
    }
}

#[tokio::test]
async fn other_failures_of_a_result_are_reported() {
    let client = connect("memory://", &unique_prefix()).await;
    client.shutdown().await.expect("nothing is held");
    assert!(report(&client).await.expect_err("closed").is_closed());
}

#[derive(Debug, PartialEq)]
struct Refused(String);

#[distributed_lock(key = "nightly", client = client, on_busy = |error| Err(Refused(error.to_string())))]
async fn asked(client: &Client) -> Result<(), Refused> {
    Ok(())
}

#[tokio::test]
async fn a_closure_answers_for_every_failure() {
    let client = connect("memory://", &unique_prefix()).await;
    assert_eq!(asked(&client).await, Ok(()));
    client.shutdown().await.expect("nothing is held");
    let Refused(reason) = asked(&client).await.expect_err("closed");
    assert!(reason.contains("shut down"), "{reason}");
}
