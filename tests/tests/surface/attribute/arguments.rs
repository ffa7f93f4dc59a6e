//! `mode`, `lease`, `wait`, `when`, `name`, `client`, `guard`.

use std::time::Duration;

use dlock::{Client, Error, ErrorKind, LockMode, distributed_lock};
use dlock_tests::{connect, stores, unique_prefix, wait_waiters};
use tokio::sync::Barrier;

/// Completes only if another call of it, or of [`write`], is under the lock at the same time.
#[distributed_lock(key = "order", mode = "read", client = client)]
async fn read(client: &Client, both_inside: &Barrier) -> Result<(), Error> {
    both_inside.wait().await;
    Ok(())
}

#[distributed_lock(key = "order", mode = mode, client = client, wait = "none")]
async fn attempt(client: &Client, mode: LockMode) -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn readers_are_in_together_and_writers_alone() {
    for url in stores().await {
        let prefix = unique_prefix();
        let (one, two) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        let both_inside = Barrier::new(2);
        let (first, second) = tokio::join!(read(&one, &both_inside), read(&two, &both_inside));
        first.and(second).expect("readers share");

        let held = one.rw_lock("order").expect("valid").read().await;
        attempt(&two, LockMode::Read).await.expect("readers share");
        let refused = attempt(&two, LockMode::Write)
            .await
            .expect_err("somebody reads");
        assert_eq!(refused.kind(), ErrorKind::Busy, "{refused}");
        drop(held);
    }
}

#[distributed_lock(key = "order", client = client, lease = lease, guard = lock)]
async fn remaining(client: &Client, lease: Duration) -> Result<Duration, Error> {
    let info = client.rw_lock(lock.key().name())?.inspect().await?;
    Ok(info.holders[0].remaining)
}

#[tokio::test]
async fn the_lease_is_the_one_asked_for() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        for seconds in [5, 50] {
            let lease = Duration::from_secs(seconds);
            let remaining = remaining(&client, lease).await.expect("free");
            assert!(remaining <= lease && remaining > lease / 2, "{remaining:?}");
        }
    }
}

#[distributed_lock(key = "order", client = client, wait = "50ms")]
async fn impatient(client: &Client) -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "order", client = client, wait = "forever")]
async fn patient(client: &Client) -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn waiting_ends_when_it_should() {
    for url in stores().await {
        let prefix = unique_prefix();
        let (one, two) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        let lock = one.rw_lock("order").expect("valid");
        let held = lock.write().await.expect("free");
        // Which connects, so that this is none of the time that the next one has.
        let busy = two.rw_lock("order").expect("valid").try_write().await;
        assert!(busy.expect("answered").is_none());
        let refused = impatient(&two).await.expect_err("somebody writes");
        assert!(refused.is_timeout(), "{refused}");
        let waiting = tokio::spawn(async move { patient(&two).await });
        wait_waiters(&lock, 1).await;
        held.release().await.expect("held to the end");
        waiting.await.expect("no panic").expect("free now");
    }
}

#[distributed_lock(key = "order", client = client, when = shared, wait = "none")]
async fn sometimes(client: &Client, shared: bool) -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn without_when_there_is_no_lock() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let held = client.rw_lock("order").expect("valid").write().await;
        sometimes(&client, false).await.expect("not locked");
        let refused = sometimes(&client, true).await.expect_err("somebody writes");
        assert_eq!(refused.kind(), ErrorKind::Busy, "{refused}");
        drop(held);
    }
}

#[distributed_lock(key = "order:{id}", client = client, guard = lock)]
async fn fenced(client: &Client, mut id: u64) -> Result<(String, u64), Error> {
    id += 1;
    assert_eq!(id, 8, "the argument is the body's own");
    let current = dlock::current().expect("the body runs under a lock");
    assert_eq!(current.fencing_token(), lock.fencing_token());
    Ok((lock.key().name().to_owned(), lock.fencing_token().as_u64()))
}

#[tokio::test]
async fn the_guard_tells_name_and_token() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let (name, first) = fenced(&client, 7).await.expect("free");
        let (_, second) = fenced(&client, 7).await.expect("free");
        assert_eq!(name, "order:7");
        assert!(second > first);
        assert!(dlock::current().is_none());
    }
}

#[distributed_lock(key = "order", client = client, guard = lock)]
async fn escape(client: &Client) -> Result<dlock::CallGuard, Error> {
    Ok(lock)
}

#[tokio::test]
async fn a_guard_that_escapes_says_that_it_is_over() {
    let client = connect("memory://", &unique_prefix()).await;
    let lock = escape(&client).await.expect("free");
    lock.lost().await;
    let error = lock.check().expect_err("the function has returned");
    assert!(lock.is_lost() && error.is_lost(), "{error}");
}

#[distributed_lock(key = "order")]
async fn nobody_installed_a_client() -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn without_a_client_the_error_says_what_to_do() {
    let error = nobody_installed_a_client().await.expect_err("no client");
    assert!(error.to_string().contains("dlock::install"), "{error}");
}
