//! `keys`: several locks, all or none.

use std::time::Duration;

use dlock::{CallGuard, Client, Error, blocking, distributed_lock};
use dlock_tests::{connect, scaled, soon, stores, unique_prefix, wait_free, wait_waiters};
use tokio::task::JoinSet;
use tokio::time::timeout;

#[distributed_lock(keys = ["account:{from}", "account:{to}"], client = client, guard = locks)]
async fn transfer(client: &Client, from: u32, to: u32) -> Result<Vec<String>, Error> {
    tokio::task::yield_now().await;
    locks.iter().try_for_each(CallGuard::check)?;
    Ok(locks
        .iter()
        .map(|lock| lock.key().name().to_owned())
        .collect())
}

#[distributed_lock(keys = ["account:{from}", "account:{to}"], client = client, wait = "30ms")]
async fn impatient(client: &Client, from: u32, to: u32) -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn the_guards_are_in_the_order_written() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        assert_eq!(
            transfer(&client, 2, 1).await.expect("free"),
            ["account:2", "account:1"]
        );
        assert_eq!(
            transfer(&client, 3, 3).await.expect("free"),
            ["account:3", "account:3"]
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crossing_transfers_never_wait_for_each_other() {
    for url in stores().await {
        let prefix = unique_prefix();
        let clients = [connect(&url, &prefix).await, connect(&url, &prefix).await];
        let mut running = JoinSet::new();
        for round in 0..40_u32 {
            let client = clients[round as usize % 2].clone();
            let (from, to) = (round % 3, (round + 1 + round % 2) % 3);
            running.spawn(async move { transfer(&client, from, to).await.map(drop) });
        }
        let all = async {
            while let Some(done) = running.join_next().await {
                done.expect("no panic").expect("in turn");
            }
        };
        timeout(scaled(Duration::from_secs(20)), all)
            .await
            .expect("no deadlock");
    }
}

#[tokio::test]
async fn what_cannot_be_had_together_is_not_kept_apart() {
    for url in stores().await {
        let prefix = unique_prefix();
        let (client, other) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        let [one, two] = ["account:1", "account:2"].map(|name| other.rw_lock(name).expect("valid"));
        let held = two.write().await.expect("free");
        let refused = impatient(&client, 2, 1)
            .await
            .expect_err("one of them is held");
        assert!(refused.is_timeout(), "{refused}");
        wait_free(&one).await;
        held.release().await.expect("held to the end");

        // The earlier one is missing: the later one is not held while waiting for it.
        let held = one.write().await.expect("free");
        let waiting = tokio::spawn(async move { transfer(&client, 2, 1).await });
        wait_waiters(&one, 1).await;
        drop(two.try_write().await.expect("answered").expect("not held"));
        held.release().await.expect("held to the end");
        waiting.await.expect("no panic").expect("free now");
    }
}

#[distributed_lock(keys = names, client = client, mode = "read", guard = locks)]
async fn look_at(client: &Client, names: &[&str]) -> Result<usize, Error> {
    Ok(locks.len())
}

#[tokio::test]
async fn a_list_made_at_run_time_will_do() {
    let client = connect("memory://", &unique_prefix()).await;
    assert_eq!(look_at(&client, &["b", "a", "b"]).await.expect("free"), 3);
    assert_eq!(look_at(&client, &[]).await.expect("nothing to lock"), 0);
}

#[distributed_lock(keys = ["a", "{{a}}"], client = client, guard = locks)]
async fn under_both_spellings(client: &Client) -> Result<usize, Error> {
    locks.iter().try_for_each(CallGuard::check)?;
    Ok(locks.len())
}

#[tokio::test]
async fn a_lock_that_is_spelled_two_ways_is_taken_once() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let ended = soon(under_both_spellings(&client)).await;
        assert_eq!(ended.expect("free"), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_spell_locks_differently_never_wait_for_each_other() {
    for url in stores().await {
        let prefix = unique_prefix();
        let clients = [connect(&url, &prefix).await, connect(&url, &prefix).await];
        let mut running = JoinSet::new();
        for round in 0..40_usize {
            let client = clients[round % 2].clone();
            running.spawn(async move {
                // By the names as they are written, each pair is in the opposite order of the other.
                let names = [["a", "{b}"], ["{a}", "b"]][round % 2];
                both(&client, &names).await
            });
        }
        let all = async {
            while let Some(done) = running.join_next().await {
                done.expect("no panic").expect("in turn");
            }
        };
        soon(all).await;
    }
}

#[distributed_lock(keys = names, client = client)]
async fn both(client: &Client, names: &[&str]) -> Result<(), Error> {
    tokio::task::yield_now().await;
    Ok(())
}

#[distributed_lock(keys = ["one", "two"], client = client, lease = "200ms", max_hold = "200ms")]
fn for_a_moment(client: &blocking::Client) -> Result<(), Error> {
    panic!("it has only one of its locks");
}

#[distributed_lock(
    keys = ["one", "two"], client = client, lease = "200ms", max_hold = "200ms", on_lost = "continue"
)]
async fn whatever_happens(client: &Client) -> Result<(), Error> {
    panic!("it has only one of its locks");
}

/// The first lock is held for longer than it may be, until the second is free.
#[tokio::test]
async fn a_body_does_not_start_when_one_of_its_locks_was_lost_before_it_had_all() {
    for url in stores().await {
        let prefix = unique_prefix();
        let stranger = connect(&url, &prefix).await;
        let second = stranger.rw_lock("two").expect("valid");
        let first = stranger.rw_lock("one").expect("valid");
        for runs_async in [true, false] {
            let held = second.write().await.expect("free");
            let client = connect(&url, &prefix).await;
            let waiting = if runs_async {
                tokio::spawn(async move { whatever_happens(&client).await })
            } else {
                let client = blocking::Client::from(client);
                tokio::task::spawn_blocking(move || for_a_moment(&client))
            };
            wait_waiters(&second, 1).await;
            wait_free(&first).await;
            let taken = first.write().await.expect("free");
            held.release().await.expect("held to the end");
            let error = waiting.await.expect("no panic").expect_err("lost");
            assert!(error.is_lost(), "{error}");
            taken.release().await.expect("held to the end");
        }
    }
}
