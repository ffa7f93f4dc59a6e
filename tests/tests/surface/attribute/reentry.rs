//! Annotated functions that call one another.

use std::thread;

use dlock::{Client, Error, ErrorKind, LockMode, distributed_lock};
use dlock_tests::{connect, stores, unique_prefix};
use tokio::runtime::Builder;

/// What came of a call of a function's own, and of one of a task that it has spawned.
type Inside = Result<[Result<u64, Error>; 2], Error>;

#[distributed_lock(key = "order", client = client, mode = outer, guard = lock)]
async fn nested(client: &Client, outer: LockMode, inner: LockMode) -> Result<bool, Error> {
    let entered = entered(client, inner).await?;
    Ok(entered == lock.fencing_token().as_u64())
}

#[distributed_lock(key = "order", client = client, mode = mode, guard = lock, wait = "none")]
async fn entered(client: &Client, mode: LockMode) -> Result<u64, Error> {
    Ok(lock.fencing_token().as_u64())
}

#[tokio::test]
async fn a_nested_call_enters_again_unless_it_asks_for_more() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        for (outer, inner) in [
            (LockMode::Write, LockMode::Write),
            (LockMode::Write, LockMode::Read),
            (LockMode::Read, LockMode::Read),
        ] {
            assert!(nested(&client, outer, inner).await.expect("its own lock"));
        }
        let error = nested(&client, LockMode::Read, LockMode::Write).await;
        assert!(
            error
                .expect_err("it would wait for itself")
                .is_would_deadlock()
        );
    }
}

#[distributed_lock(key = "a", client = client)]
async fn first(client: &Client) -> Result<(), Error> {
    second(client).await
}

#[distributed_lock(key = "b", client = client)]
async fn second(client: &Client) -> Result<(), Error> {
    third(client).await
}

#[distributed_lock(key = "a", client = client, wait = "none")]
async fn third(client: &Client) -> Result<(), Error> {
    fourth(client).await
}

#[distributed_lock(keys = ["c", "b", "a"], client = client, wait = "none", guard = locks)]
async fn fourth(client: &Client) -> Result<(), Error> {
    assert_eq!(locks.len(), 3);
    let current = dlock::current().expect("held");
    assert_eq!(
        current.key().name(),
        "c",
        "the only one that was not held yet"
    );
    Ok(())
}

#[tokio::test]
async fn every_lock_further_out_is_remembered() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        first(&client).await.expect("all its own");
    }
}

#[distributed_lock(key = "order", client = client)]
async fn spawns(client: &Client) -> Result<Result<u64, Error>, Error> {
    let client = client.clone();
    let spawned = tokio::spawn(async move { entered(&client, LockMode::Read).await });
    Ok(spawned.await.expect("no panic"))
}

#[tokio::test]
async fn a_spawned_task_does_not_inherit_the_lock() {
    let client = connect("memory://", &unique_prefix()).await;
    let inside = spawns(&client).await.expect("free");
    assert_eq!(inside.expect_err("another task").kind(), ErrorKind::Busy);
}

/// The runtime's first future is a part of the call, and what that spawns is not.
#[distributed_lock(key = "order", client = client)]
fn drives_a_runtime(client: &Client) -> Inside {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    let own = runtime.block_on(entered(client, LockMode::Write));
    let client = client.clone();
    let spawned = async move { entered(&client, LockMode::Read).await };
    let spawned = runtime.block_on(async { tokio::spawn(spawned).await });
    Ok([own, spawned.expect("no panic")])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_runs_on_the_thread_of_a_body_does_not_inherit_its_lock() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let runs: [fn(Client) -> Inside; 2] = [
            |client| {
                thread::spawn(move || drives_a_runtime(&client))
                    .join()
                    .expect("no panic")
            },
            |client| drives_a_runtime(&client),
        ];
        for run in runs {
            let client = client.clone();
            let inside = tokio::task::spawn_blocking(move || run(client)).await;
            let [own, spawned] = inside.expect("no panic").expect("free");
            own.expect("entered again");
            assert_eq!(spawned.expect_err("another task").kind(), ErrorKind::Busy);
        }
    }
}

#[distributed_lock(key = "order", client = client)]
async fn with_other_client(client: &Client, other: &Client) -> Result<Result<u64, Error>, Error> {
    Ok(entered(other, LockMode::Read).await)
}

#[tokio::test]
async fn another_client_is_another_holder() {
    for url in stores().await {
        let prefix = unique_prefix();
        let (one, two) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        let inside = with_other_client(&one, &two).await.expect("free");
        assert_eq!(
            inside.expect_err("held by the first").kind(),
            ErrorKind::Busy
        );
    }
}

#[distributed_lock(keys = ["x", "y"], client = client, mode = mode, guard = locks)]
async fn calls_sync(client: &Client, mode: LockMode) -> Result<bool, Error> {
    let tokens = (sync_one(client)?, sync_both(client)?);
    Ok(tokens.0 == locks[0].fencing_token().as_u64() && tokens.1 == 2)
}

#[distributed_lock(key = "x", client = client, guard = lock)]
fn sync_one(client: &Client) -> Result<u64, Error> {
    let current = dlock::current().expect("entered again");
    assert_eq!(current.key(), lock.key());
    Ok(lock.fencing_token().as_u64())
}

#[distributed_lock(keys = ["y", "x"], client = client, guard = locks)]
fn sync_both(client: &Client) -> Result<usize, Error> {
    Ok(locks.len())
}

#[tokio::test]
async fn a_nested_call_that_blocks_enters_again_where_no_thread_may_wait() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        assert!(calls_sync(&client, LockMode::Write).await.expect("its own"));
        let asks_for_more = calls_sync(&client, LockMode::Read).await;
        let refused = asks_for_more.expect_err("it would wait for itself");
        assert!(refused.to_string().contains("outer function"), "{refused}");
    }
}

#[distributed_lock(key = "{held}", client = client)]
async fn cross(
    client: &Client,
    held: &str,
    wanted: &str,
    both: &tokio::sync::Barrier,
) -> Result<(), Error> {
    both.wait().await;
    want(client, wanted).await
}

#[distributed_lock(key = "{wanted}", client = client, wait = "100ms")]
async fn want(client: &Client, wanted: &str) -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn two_tasks_that_wait_for_each_other_end_by_wait() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let both = tokio::sync::Barrier::new(2);
        let (one, two) = tokio::join!(
            cross(&client, "x", "y", &both),
            cross(&client, "y", "x", &both)
        );
        let refused = one.and(two).expect_err("one of them has to give way");
        assert!(refused.is_timeout(), "{refused}");
    }
}
