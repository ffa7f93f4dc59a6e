//! A place in the line is not lost by accident.

use std::time::Duration;

use dlock::{__internals::Script, RwLock};
use dlock_tests::{
    FaultProxy, SOON, builder, connect, its_turn, queue, request_of, scaled, shared_server,
    unique_prefix, wait_free, wait_until, wait_waiters,
};

async fn first_in_line(lock: &RwLock) -> String {
    let info = lock.inspect().await.expect("answered");
    assert_eq!(info.waiters.len(), 2, "somebody lost the place: {info:?}");
    info.waiters[0].id.clone()
}

#[tokio::test]
async fn one_unanswered_heartbeat_does_not_lose_the_place() {
    let server = shared_server().await;
    let (proxy, prefix) = (FaultProxy::start(server.addr()), unique_prefix());
    let lock = async |url: &str| {
        let client = connect(url, &prefix).await;
        client.rw_lock("one").expect("a valid name")
    };
    let (held, one, two) = (
        lock(&server.url()).await,
        lock(&proxy.url()).await,
        lock(&server.url()).await,
    );
    let guard = held.write().await.expect("free");
    let mut first = queue(&one);
    wait_waiters(&held, 1).await;
    let mut second = queue(&two);
    wait_waiters(&held, 2).await;
    let place = first_in_line(&held).await;

    let heartbeat = request_of(Script::Acquire);
    proxy.mute_request(&heartbeat, 1);
    wait_until(SOON, "a heartbeat is swallowed", || async {
        proxy.counters().cuts == 1
    })
    .await;
    // It is sent again when the client has waited for the answer for as long as it does, and then goes on.
    let passed = proxy.counters().requests;
    wait_until(SOON, "heartbeats go on", || async {
        assert_eq!(first_in_line(&held).await, place);
        proxy.counters().requests > passed + 3
    })
    .await;
    guard.release().await.expect("held to the end");
    let guard = tokio::select! {
        guard = &mut first => guard.expect("no panic").expect("its turn"),
        _ = &mut second => panic!("overtaken"),
    };
    guard.release().await.expect("held to the end");
    let guard = its_turn(second).await;
    guard.release().await.expect("held to the end");
    wait_free(&held).await;
}

#[tokio::test]
async fn a_subscription_that_hangs_does_not_keep_a_waiter_from_looking() {
    let server = shared_server().await;
    let (proxy, prefix) = (FaultProxy::start(server.addr()), unique_prefix());
    let held = connect(&server.url(), &prefix).await;
    let held = held.rw_lock("one").expect("a valid name");
    // For so long a request that is not answered is waited for.
    let long = scaled(Duration::from_secs(8));
    let client = builder(&proxy.url(), &prefix);
    let client = client.response_timeout(long).retry_for(long);
    let client = client.build().await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let guard = held.write().await.expect("free");
    proxy.mute_request("SUBSCRIBE", usize::MAX);
    let waiting = queue(&lock);
    wait_waiters(&held, 1).await;
    guard.release().await.expect("held to the end");
    let guard = tokio::time::timeout(long / 2, waiting).await;
    let guard = guard.expect("at its next look").expect("no panic");
    guard
        .expect("free")
        .release()
        .await
        .expect("held to the end");
}
