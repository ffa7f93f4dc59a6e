//! Many waits that come to nothing leave nothing behind.

use std::time::Duration;

use dlock::Client;
use dlock_tests::{
    RedisServer, builder, connect, scaled, shared_server, unique_prefix, wait_until,
};
use futures_util::{StreamExt, stream};
use tokio::{task::JoinSet, time::timeout};

const WAITS: usize = 10_000;
const TASKS: usize = 100;
/// Tasks of one process share a place in a lock's line, so most of these meet on the server, and some before.
const LOCKS: usize = 80;

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_and_timed_out_waits_leave_no_place_and_no_subscription() {
    let server = RedisServer::start().await;
    let (holder, other) = (
        connect(&server.url(), "dlock").await,
        connect(&server.url(), "dlock").await,
    );
    let mut guards = Vec::new();
    for n in 0..LOCKS {
        guards.push(lock(&holder, n).write().await.expect("the lock is free"));
    }

    let mut waiting = JoinSet::new();
    for task in 0..TASKS {
        let client = other.clone();
        waiting.spawn(async move {
            for n in (task..WAITS).step_by(TASKS) {
                give_up(&client, n).await;
            }
        });
    }
    waiting.join_all().await;

    let soon = Duration::from_secs(10);
    wait_until(soon, "no place in a line is left", || async {
        server
            .query::<Vec<String>>(&["KEYS", "dlock~*"])
            .await
            .is_empty()
    })
    .await;
    wait_until(soon, "no subscription is left", || async {
        server.channels().await.is_empty()
    })
    .await;

    drop(guards);
    for n in 0..LOCKS {
        let lock = lock(&other, n);
        let granted = lock.write_timeout(soon).await;
        granted
            .expect("nobody is in the way")
            .release()
            .await
            .expect("it was held");
    }
}

fn lock(client: &Client, n: usize) -> dlock::RwLock {
    client.rw_lock(format!("wait:{n}")).expect("a valid name")
}

/// Waits for a held lock and gives up, by one of four ways.
async fn give_up(client: &Client, n: usize) {
    let lock = lock(client, n % LOCKS);
    let patience = Duration::from_micros(fastrand::u64(100..6000));
    let granted = match n % 4 {
        0 => lock.write_timeout(patience).await.is_ok(),
        1 => lock.read_timeout(patience).await.is_ok(),
        2 => timeout(patience, lock.write()).await.is_ok(),
        _ => timeout(patience, lock.read()).await.is_ok(),
    };
    assert!(!granted, "somebody else holds it");
}

/// As with `buffer_unordered`, whose futures stand still while their caller works with the first result.
#[tokio::test(flavor = "multi_thread")]
async fn acquires_that_nobody_polls_keep_no_other_from_the_server() {
    const MANY: usize = 600;
    let server = shared_server().await;
    let client = builder(&server.url(), &unique_prefix());
    let client = client.retry_for(Duration::from_mins(2)).build();
    let client = client.await.expect("the server is up");
    let acquire = |n: usize| {
        let lock = client.rw_lock(format!("many-{n}")).expect("a valid name");
        async move { lock.write().await.expect("free") }
    };
    let mut many = stream::iter(0..MANY).map(acquire).buffer_unordered(MANY);
    let first = many.next().await.expect("one of them");

    let other = client.rw_lock("other").expect("a valid name");
    let soon = scaled(Duration::from_secs(10));
    let guard = timeout(soon, other.write()).await.expect("in time");
    drop(guard.expect("free"));
    drop(first);
    assert_eq!(many.count().await, MANY - 1);
}
