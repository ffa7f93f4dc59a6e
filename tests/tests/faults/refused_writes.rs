//! A server that refuses writes while a lock is given back: no client is told of a grant that is not recorded.

use dlock::{Client, Error, RwLock, WriteGuard};
use dlock_tests::{
    Direction, FaultProxy, RedisServer, SOON, connect, queue, wait_listening, wait_until,
    wait_waiters,
};
use tokio::task::JoinHandle;

fn lock(client: &Client) -> RwLock {
    client.rw_lock("refused").expect("a valid name")
}

/// Starts to wait for the lock, and returns once the server knows and can tell.
async fn wait_in_line(
    client: &Client,
    server: &RedisServer,
) -> JoinHandle<Result<WriteGuard, Error>> {
    let (lock, own) = (lock(client), lock(client));
    let waiting = queue(&own);
    wait_waiters(&lock, 1).await;
    wait_listening(server, "", 1).await;
    waiting
}

async fn set(server: &RedisServer, setting: &str, value: &str) {
    server.query::<()>(&["CONFIG", "SET", setting, value]).await;
}

#[tokio::test]
async fn a_lock_is_passed_on_when_memory_has_run_out() {
    let server = RedisServer::start().await;
    let proxy = FaultProxy::start(server.addr());
    let (holder, other) = (
        connect(&server.url(), "dlock").await,
        connect(&proxy.url(), "dlock").await,
    );
    let guard = lock(&holder).write().await.expect("the lock is free");
    let waiting = wait_in_line(&other, &server).await;

    // The waiter's own requests would be refused too.
    proxy.blackhole(Direction::ToServer);
    set(&server, "maxmemory", "1").await;
    let token = guard.fencing_token();
    let released = guard.release().await;
    set(&server, "maxmemory", "0").await;
    released.expect("a release needs no memory");
    let state = lock(&holder).inspect().await.expect("it answers");
    assert_eq!(state.holders.len(), 1, "{state:?}");
    assert!(state.holders[0].token > Some(token), "{state:?}");

    proxy.pass();
    let next = waiting.await.expect("no panic").expect("it was granted");
    next.release().await.expect("it was held");
}

#[tokio::test]
async fn a_release_that_is_refused_tells_nobody() {
    let server = RedisServer::start().await;
    let (holder, other) = (
        connect(&server.url(), "dlock").await,
        connect(&server.url(), "dlock").await,
    );
    let guard = lock(&holder).write().await.expect("the lock is free");
    let waiting = wait_in_line(&other, &server).await;

    set(&server, "min-replicas-to-write", "1").await;
    let releasing = tokio::spawn(guard.release());
    wait_until(SOON, "it was refused a few times", || async {
        let errors = server.info("errorstats").await.expect("it answers");
        let refused = errors
            .lines()
            .find_map(|line| line.strip_prefix("errorstat_NOREPLICAS:count="));
        refused.is_some_and(|count| count.trim().parse::<u32>().is_ok_and(|count| count > 5))
    })
    .await;
    assert!(
        !waiting.is_finished(),
        "told while it is still held: {:?}",
        waiting.await
    );

    set(&server, "min-replicas-to-write", "0").await;
    let released = releasing.await.expect("no panic");
    released.expect("it is tried again");
    let next = waiting.await.expect("no panic").expect("it is granted");
    next.release().await.expect("it was held");
}
