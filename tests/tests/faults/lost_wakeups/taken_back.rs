//! A subscription that the server ends before its client has got round to the confirmation.

use std::{thread, time::Duration};

use dlock_tests::{
    Direction, Faults, ProxiedCluster, RedisServer, SOON, builder, not_applicable, queue,
    sharded_channels, unique_prefix, wait_until,
};

async fn listens(server: &RedisServer) -> bool {
    !server.channels().await.is_empty()
}

#[tokio::test]
async fn a_subscription_that_ends_before_its_confirmation_is_heard_is_made_again() {
    if !sharded_channels() {
        return not_applicable("only sharded channels end when their slots move");
    }
    let cluster = ProxiedCluster::start().await;
    let prefix = unique_prefix();
    let patient = |url: String| {
        let client = builder(&url, &prefix).response_timeout(Duration::from_secs(5));
        client.retry_for(SOON).build()
    };
    let holder = patient(cluster.url()).await.expect("it is up");
    let waiter = patient(cluster.url()).await.expect("it is up");
    let slot = holder
        .rw_lock("moved")
        .expect("valid")
        .key()
        .slot()
        .as_u16();
    let home = cluster.cluster().master_of(slot).await;
    let (server, proxy) = (cluster.cluster().node(home), cluster.proxy(home));

    let held = holder.rw_lock("moved").expect("valid").write().await;
    let held = held.expect("free");
    // Answers are late enough to be caught on their way.
    proxy.delay(Direction::ToClient, Duration::from_millis(100));
    let wanted = waiter.rw_lock("moved").expect("valid");
    let waiting = queue(&wanted);
    wait_until(SOON, "the waiter subscribes", async || {
        listens(server).await
    })
    .await;
    proxy.blackhole(Direction::ToClient);

    let away = (home + 1) % 3;
    cluster.cluster().migrate_slot(slot, away).await;
    cluster.cluster().migrate_slot(slot, home).await;
    assert!(!listens(server).await, "the server has ended it");

    // The confirmation and the end arrive while the client stands still, so that it reads them in one go.
    let passing = thread::spawn({
        let faults = Faults::clone(proxy);
        move || {
            faults.pass();
            thread::sleep(Duration::from_millis(300));
        }
    });
    passing.join().expect("it passes");
    wait_until(SOON, "the waiter subscribes again", async || {
        listens(server).await
    })
    .await;
    held.release().await.expect("held");
    drop(waiting.await.expect("no panic").expect("its turn"));
}
