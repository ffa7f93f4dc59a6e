//! What tasks of one process must not do to each other.

use std::time::Duration;

use dlock::{ErrorKind, LossReason};
use dlock_tests::{
    Direction, ProxiedLock, RedisServer, builder, connect, queue, scaled, shared_server,
    unique_prefix, wait_free, wait_until, wait_waiters,
};
use tokio::{task::JoinSet, time::timeout};

const SOON: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_that_are_refused_turn_nobody_else_away() {
    let (server, prefix) = (shared_server().await, unique_prefix());
    let client = connect(&server.url(), &prefix).await;
    let lock = client.rw_lock("foreign").expect("a valid name");
    server
        .query::<()>(&["SET", lock.key().as_str(), "something else"])
        .await;
    let mut tasks = JoinSet::new();
    for _ in 0..12 {
        let lock = lock.clone();
        tasks.spawn(async move {
            for _ in 0..200 {
                let error = lock.write().await.expect_err("not a lock");
                assert_eq!(error.kind(), ErrorKind::ForeignKey, "{error}");
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("the client is open");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_wait_out_a_trouble_leaves_it_to_those_who_do() {
    let server = RedisServer::start().await;
    let retry_for = Duration::from_secs(1);
    let client = builder(&server.url(), "dlock")
        .response_timeout(retry_for)
        .retry_for(retry_for);
    let client = client.build().await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let replicas = async |least: &str| {
        let command = ["CONFIG", "SET", "min-replicas-to-write", least];
        server.query::<()>(&command).await;
    };
    replicas("1").await;
    // Redis 6.2 has another name for what goes wrong in a script.
    let refused = async || server.info("errorstats").await.ok();
    let before = refused().await;
    let trying = tokio::spawn({
        let lock = lock.clone();
        async move { lock.try_write().await.map(drop) }
    });
    wait_until(SOON, "the server was asked", || async {
        refused().await != before
    })
    .await;
    let waiting = queue(&lock);
    let error = trying.await.expect("no panic").expect_err("not for long");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    replicas("0").await;
    let guard = timeout(scaled(SOON), waiting).await.expect("soon");
    let guard = guard.expect("no panic").expect("its turn");
    guard.release().await.expect("held to the end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_is_shorter_than_the_answers_is_its_own_trouble() {
    let ProxiedLock { proxy, lock, .. } =
        ProxiedLock::start(|builder| builder.connect_timeout(scaled(Duration::from_secs(5)))).await;
    // Once connected to, so that only requests are slow.
    let guard = lock.write().await.expect("free");
    guard.release().await.expect("held to the end");
    proxy.delay(Direction::ToClient, Duration::from_millis(240));
    let short = lock.clone().lease(Duration::from_millis(200));
    let asked = proxy.counters().requests;
    let leading = tokio::spawn(async move { short.write().await.map(drop) });
    wait_until(SOON, "the server is asked", || async {
        proxy.counters().requests > asked
    })
    .await;
    let waiting = queue(&lock);
    let error = leading.await.expect("no panic").expect_err("too short");
    assert!(error.is_timeout(), "{error}");
    let guard = timeout(scaled(SOON), waiting).await.expect("soon");
    drop(guard.expect("no panic").expect("its lease is long enough"));
}

#[tokio::test]
async fn a_reader_whose_hold_was_removed_hears_of_it_although_others_wished_to_join() {
    let url = format!("memory://{}", unique_prefix());
    let (readers, others) = (connect(&url, "dlock").await, connect(&url, "dlock").await);
    let lease = scaled(Duration::from_secs(3));
    let lock = |client: &dlock::Client| client.rw_lock("one").expect("a valid name").lease(lease);
    let (readers, others) = (lock(&readers), lock(&others));
    let guard = readers.read().await.expect("free");
    let writing = tokio::spawn({
        let others = others.clone();
        async move { others.write().await }
    });
    wait_waiters(&others, 1).await;
    // Once the slice is over, a reader that wants to join asks the server, which has a writer waiting.
    tokio::time::sleep(Duration::from_millis(10)).await;
    let joining = tokio::spawn(async move { readers.read().await });
    wait_waiters(&others, 2).await;

    let info = others.inspect().await.expect("answered");
    let held = info.holders.first().expect("the reader").id.clone();
    assert!(others.force_release(&held).await.expect("answered"));
    guard.lost().await;
    let error = guard.check().expect_err("lost");
    assert_eq!(
        error.kind(),
        ErrorKind::Lost(LossReason::Removed),
        "{error}"
    );
    drop((guard, writing.await));
    drop(joining.await);
    wait_free(&others).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_waits_for_releases_that_are_under_way() {
    let one = ProxiedLock::start(|builder| builder).await;
    let guard = one.lock.write().await.expect("free");
    one.proxy.blackhole(Direction::ToClient);
    let releasing = tokio::spawn(guard.release());
    wait_free(&one.witness).await;
    let client = one.client.clone();
    let closing = tokio::spawn(async move { client.shutdown().await });
    let early = timeout(Duration::from_millis(100), async {
        while !closing.is_finished() {
            tokio::task::yield_now().await;
        }
    });
    assert!(early.await.is_err(), "the release was not answered");
    one.proxy.pass();
    closing
        .await
        .expect("no panic")
        .expect("all was given back");
    releasing.await.expect("no panic").expect("held to the end");
}
