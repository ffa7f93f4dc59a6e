//! Leases that are renewed, or not, and the clients that this concerns.

use std::time::{Duration, Instant};

use dlock::{Client, ErrorKind, LossReason, WriteGuard};
use dlock_tests::{
    Direction, FaultProxy, ProxiedCluster, SOON, builder, connect, names_on, scaled, shared_server,
    stores, unique_prefix, wait_free, wait_until,
};

/// Takes so many locks that belong to one master.
async fn hold_on<const N: usize>(
    proxied: &ProxiedCluster,
    client: &Client,
    prefix: &str,
    master: usize,
) -> Vec<WriteGuard> {
    let mut guards = Vec::new();
    for name in names_on(proxied.cluster(), prefix, [master; N]).await {
        let lock = client.rw_lock(name).expect("a valid name");
        guards.push(lock.write().await.expect("free"));
    }
    guards
}

#[tokio::test]
async fn what_was_granted_slowly_is_renewed_in_time() {
    let proxy = FaultProxy::start(shared_server().await.addr());
    let lease = scaled(Duration::from_secs(2));
    let builder = builder(&proxy.url(), &unique_prefix());
    let builder = builder
        .lease(lease)
        .response_timeout(lease)
        .retry_for(lease);
    let client = builder.build().await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let asked = Instant::now();
    proxy.delay(Direction::ToClient, lease * 3 / 4);
    let guard = lock.write().await.expect("granted before its lease ends");
    proxy.pass();
    wait_until(2 * lease, "the first lease is over", || async {
        asked.elapsed() > lease
    })
    .await;
    guard.check().expect("renewed");
}

/// The server answers everything, and later than an answer may take.
#[tokio::test]
async fn a_server_that_becomes_slow_under_load_costs_no_lease() {
    let others = async |client: Client| {
        for n in 0_u64.. {
            let lock = client.rw_lock(format!("other{n}")).expect("a valid name");
            tokio::spawn(async move { lock.try_write().await });
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    holds_outlast_a_server_that_becomes_slow(others).await;
}

/// Between two answers it is silent for longer than the response timeout.
#[tokio::test]
async fn a_server_that_becomes_slow_costs_no_lease_with_one_request_at_a_time_and_grants_more() {
    let another = async |client: Client| {
        let lock = client.rw_lock("other").expect("a valid name");
        loop {
            let _ = lock.inspect().await;
        }
    };
    let (_proxy, client) = holds_outlast_a_server_that_becomes_slow(another).await;
    let lock = client.rw_lock("another").expect("a valid name");
    let granted = lock.try_write().await.expect("answered late");
    assert!(granted.is_some(), "it is free");
}

async fn holds_outlast_a_server_that_becomes_slow(
    load: impl AsyncFnOnce(Client),
) -> (FaultProxy, Client) {
    let proxy = FaultProxy::start(shared_server().await.addr());
    let (lease, timeout) = (
        scaled(Duration::from_secs(3)),
        scaled(Duration::from_millis(400)),
    );
    let builder = builder(&proxy.url(), &unique_prefix());
    let client = builder.lease(lease).response_timeout(timeout).build();
    let client = client.await.expect("the server is up");
    let mut guards = Vec::new();
    for n in 0..20 {
        let lock = client.rw_lock(format!("held{n}")).expect("a valid name");
        guards.push(lock.write().await.expect("free"));
    }
    let becomes_slow = async {
        for step in 1..=8 {
            proxy.delay(Direction::ToClient, timeout * step / 5);
            tokio::time::sleep(timeout / 4).await;
        }
        tokio::time::sleep(2 * lease).await;
    };
    tokio::select! {
        () = becomes_slow => {}
        () = load(client.clone()) => unreachable!("it goes on"),
    }
    for guard in &guards {
        guard.check().expect("renewed by answers that come late");
    }
    (proxy, client)
}

/// Their slot moves, and the node that it moves to says nothing.
#[tokio::test]
async fn locks_that_move_to_a_silent_node_stall_none_of_those_that_are_renewed_with_them() {
    let proxied = ProxiedCluster::start().await;
    let prefix = unique_prefix();
    let lease = scaled(Duration::from_millis(600));
    let builder = builder(&proxied.url(), &prefix)
        .lease(lease)
        .response_timeout(4 * lease)
        .retry_for(4 * lease);
    let client = builder.build().await.expect("the cluster is up");
    let mut stay = hold_on::<200>(&proxied, &client, &prefix, 0).await;
    // Many, so that most are renewed together with others.
    let mut move_on = vec![stay.pop().expect("many")];
    let name = move_on[0].key().name().to_owned();
    for number in 0..40 {
        let lock = client.rw_lock(format!("{{{name}}}{number}"));
        move_on.push(lock.expect("a valid name").write().await.expect("free"));
    }
    let slot = move_on[0].key().slot().as_u16();
    stay.retain(|guard| guard.key().slot().as_u16() != slot);
    let migration = proxied.cluster().begin_migration(slot, 1).await;
    migration.move_all_keys().await;
    proxied.proxy(1).blackhole(Direction::Both);
    for guard in &move_on {
        guard.lost().await;
    }
    for guard in &stay {
        guard.check().expect("its node answers");
    }
}

#[tokio::test]
async fn a_silent_shard_stalls_nobody_else() {
    let proxied = ProxiedCluster::start().await;
    let prefix = unique_prefix();
    let lease = Duration::from_millis(600);
    let builder = builder(&proxied.url(), &prefix)
        .lease(lease)
        .retry_for(Duration::from_secs(2));
    let client = builder.build().await.expect("the cluster is up");
    let silent = hold_on::<8>(&proxied, &client, &prefix, 0).await;
    let mut others = hold_on::<8>(&proxied, &client, &prefix, 1).await;
    others.extend(hold_on::<8>(&proxied, &client, &prefix, 2).await);

    proxied.proxy(0).blackhole(Direction::Both);
    let start = Instant::now();
    for guard in &silent {
        guard.lost().await;
        let error = guard.check().expect_err("no renewal was acknowledged");
        assert_eq!(error.kind(), ErrorKind::Lost(LossReason::Expired));
    }
    let lost = start.elapsed();
    assert!(lost < lease, "they know before the server: {lost:?}");
    // Dropping them queues releases that cannot be delivered now.
    drop(silent);
    let names = names_on(proxied.cluster(), &prefix, [1; 9]).await;
    let name = names.last().expect("nine names");
    let lock = client.rw_lock(name).expect("a valid name");
    while start.elapsed() < 5 * lease {
        let asked = Instant::now();
        let guard = lock.write().await.expect("another shard");
        guard.release().await.expect("held to the end");
        let took = asked.elapsed();
        assert!(took < scaled(lease / 2), "another shard took {took:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for guard in others {
        guard.check().expect("renewed all the time");
        guard.release().await.expect("held to the end");
    }

    proxied.proxy(0).pass();
    let names = names_on(proxied.cluster(), &prefix, [0; 1]).await;
    let lock = client.rw_lock(&names[0]).expect("a valid name");
    let guard = lock.write_timeout(scaled(SOON)).await.expect("back again");
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn silence_shorter_than_the_lease_loses_nothing() {
    let proxy = FaultProxy::start(shared_server().await.addr());
    let prefix = unique_prefix();
    let lease = Duration::from_millis(1500);
    let builder = builder(&proxy.url(), &prefix)
        .lease(lease)
        .response_timeout(Duration::from_millis(200));
    let client = builder.build().await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let guard = lock.write().await.expect("free");
    for fault in 0..3 {
        match fault {
            0 => proxy.blackhole(Direction::Both),
            1 => proxy.blackhole(Direction::ToClient),
            _ => proxy.refuse(),
        }
        // More than a renewal interval, less than what is left of the lease then.
        let outcome = tokio::time::timeout(lease / 2, guard.lost()).await;
        assert!(outcome.is_err(), "given up early in round {fault}");
        proxy.pass();
        let outcome = tokio::time::timeout(lease, guard.lost()).await;
        assert!(outcome.is_err(), "not renewed again in round {fault}");
    }
    guard.release().await.expect("held to the end");
    wait_free(&lock).await;
}

#[tokio::test]
async fn different_leases_do_not_cut_each_other_short() {
    for url in stores().await {
        let prefix = unique_prefix();
        let (one, two) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        let (short, long) = (Duration::from_millis(400), Duration::from_secs(20));
        let short_lock = one.rw_lock("one").expect("a valid name").lease(short);
        let long_lock = two.rw_lock("one").expect("a valid name").lease(long);
        let long_guard = long_lock.read().await.expect("free");
        let short_guard = short_lock.read().await.expect("readers share");
        let start = Instant::now();
        while start.elapsed() < 3 * short {
            let info = long_lock.inspect().await.expect("answered");
            let remaining = |is: &dyn Fn(Duration) -> bool| {
                info.holders
                    .iter()
                    .filter(|hold| is(hold.remaining))
                    .count()
            };
            assert_eq!(
                remaining(&|left| left > short && left > long / 3),
                1,
                "{info:?}"
            );
            assert_eq!(remaining(&|left| left <= short), 1, "{info:?}");
            tokio::time::sleep(short / 20).await;
        }
        short_guard.release().await.expect("held to the end");
        long_guard.check().expect("not the other's business");
        let short_guard = short_lock.read().await.expect("readers share");
        long_guard.release().await.expect("held to the end");
        let info = long_lock.inspect().await.expect("answered");
        assert_eq!(info.holders.len(), 1);
        tokio::time::sleep(2 * short).await;
        short_guard.check().expect("renewed");
        short_guard.release().await.expect("held to the end");
        wait_free(&short_lock).await;
    }
}

#[tokio::test]
async fn a_hold_renews_itself_up_to_its_limit() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let lock = client.rw_lock("one").expect("a valid name");
        let (lease, limit) = (Duration::from_millis(300), Duration::from_millis(900));
        let start = Instant::now();
        let limited = lock.clone().lease(lease).max_hold(limit);
        let guard = limited.write().await.expect("free");
        guard.lost().await;
        let held = start.elapsed();
        assert!(held >= limit, "given up after {held:?}");
        let error = guard.check().expect_err("it was given up");
        assert_eq!(error.kind(), ErrorKind::Lost(LossReason::MaxHold));
        // Free for others although the guard is still there.
        let next = lock.write_timeout(scaled(SOON)).await.expect("free soon");
        let error = guard.release().await.expect_err("it was given up");
        assert_eq!(error.kind(), ErrorKind::Lost(LossReason::MaxHold));
        next.check().expect("not the other's business");
        next.release().await.expect("held to the end");
    }
}

#[tokio::test]
async fn a_release_ends_the_renewals() {
    let proxy = FaultProxy::start(shared_server().await.addr());
    let prefix = unique_prefix();
    let lease = Duration::from_millis(300);
    let builder = builder(&proxy.url(), &prefix).lease(lease);
    let client = builder.build().await.expect("the server is up");
    let lock = client.rw_lock("one").expect("a valid name");
    let witness = connect(&shared_server().await.url(), &prefix).await;
    let witness = witness.rw_lock("one").expect("a valid name");

    // Releases meet renewals that are on their way.
    proxy.delay(Direction::Both, Duration::from_millis(15));
    for round in 0..10 {
        let guard = lock.write().await.expect("free");
        tokio::time::sleep(Duration::from_millis(40 + 12 * round)).await;
        guard.release().await.expect("held to the end");
        let guard = witness.write().await.expect("free");
        guard.release().await.expect("held to the end");
    }
    proxy.pass();
    // What was still on its way has arrived; nothing more is sent after that.
    wait_until(SOON, "all is answered", || async {
        proxy.counters().requests == proxy.counters().replies
    })
    .await;
    let before = proxy.counters().requests;
    tokio::time::sleep(2 * lease).await;
    assert_eq!(proxy.counters().requests, before);
    wait_free(&witness).await;
}

/// As after a pause of the process: all are due at the same moment, and tried again at the same moment.
#[tokio::test]
async fn holds_that_are_due_together_are_all_renewed() {
    const HOLDS: usize = 10_000;
    let lease = scaled(Duration::from_secs(8));
    let builder = builder("memory://", &unique_prefix()).lease(lease);
    let client = builder.build().await.expect("memory is always there");
    let mut guards = Vec::with_capacity(HOLDS);
    for number in 0..HOLDS {
        let lock = client.rw_lock(format!("{number}")).expect("a valid name");
        guards.push(lock.write().await.expect("free"));
    }
    // Nothing runs meanwhile, and all renewals, after a third of the lease at the latest, fall due.
    std::thread::sleep(lease * 2 / 5);
    tokio::time::sleep(lease * 7 / 10).await;
    let lost = guards.iter().filter(|guard| guard.is_lost()).count();
    assert_eq!(lost, 0, "each is held for longer than its lease");
}
