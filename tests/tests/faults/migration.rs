//! Slots that move while their locks are in use.

use std::{sync::Arc, time::Duration};

use dlock::Client;
use dlock_tests::{
    EventLog, Mode, RedisCluster, SOON, builder, check_exclusion, scaled, slot_of_lock,
    unique_prefix, wait_for, wait_free,
};
use tokio::{sync::watch, task::JoinSet};

const LEASE: Duration = Duration::from_millis(800);

async fn client(cluster: &RedisCluster, prefix: &str) -> Client {
    let builder = builder(&cluster.url(), prefix).lease(LEASE);
    builder.build().await.expect("the cluster is up")
}

/// Reads and writes until told to stop; an error is the end.
async fn load(
    client: Client,
    name: String,
    log: Arc<EventLog>,
    stop: watch::Receiver<bool>,
) -> u64 {
    let lock = client.rw_lock(&name).expect("a valid name");
    let mut holds = 0;
    while !*stop.borrow() {
        if fastrand::bool() {
            let guard = lock.read().await.expect("no error reaches the caller");
            let token = guard.fencing_token().as_u64();
            let hold = log.enter(&name, Mode::Read, token);
            tokio::time::sleep(Duration::from_millis(1)).await;
            log.exit(&name, Mode::Read, token, hold);
            guard.release().await.expect("no hold is lost");
        } else {
            let guard = lock.write().await.expect("no error reaches the caller");
            let token = guard.fencing_token().as_u64();
            let hold = log.enter(&name, Mode::Write, token);
            tokio::time::sleep(Duration::from_millis(1)).await;
            log.exit(&name, Mode::Write, token, hold);
            guard.release().await.expect("no hold is lost");
        }
        holds += 1;
    }
    holds
}

#[tokio::test(flavor = "multi_thread")]
async fn moving_slots_and_flushing_scripts_disturb_nobody() {
    let cluster = RedisCluster::start().await;
    let prefix = unique_prefix();
    let log = Arc::new(EventLog::open(std::env::temp_dir().join(&prefix)));
    // Two locks in one slot: one is held all the time, the other is fought for.
    let (held, busy) = ("{tag}held", "{tag}busy");
    let slot = dlock::Slot::of("{tag}").as_u16();
    let clients = [
        client(&cluster, &prefix).await,
        client(&cluster, &prefix).await,
    ];
    let guard = clients[0]
        .rw_lock(held)
        .expect("a valid name")
        .write()
        .await;
    let guard = guard.expect("free");
    let (stop, stopped) = watch::channel(false);
    let mut tasks = JoinSet::new();
    for client in clients.iter().cycle().take(6) {
        tasks.spawn(load(
            client.clone(),
            busy.to_owned(),
            Arc::clone(&log),
            stopped.clone(),
        ));
    }

    for round in 0..4 {
        let to = (cluster.master_of(slot).await + 1) % 3;
        let migration = cluster.begin_migration(slot, to).await;
        if round % 2 == 0 {
            cluster.script_flush_all().await;
        }
        migration.finish().await;
        cluster.script_flush_all().await;
        let writes = || log.events().len();
        let before = writes();
        wait_for(SOON, "the load goes on", || async {
            (writes() > before + 40).then_some(())
        })
        .await;
        guard.check().expect("renewed through all of it");
    }
    stop.send(true).expect("the load listens");
    let holds: u64 = tasks.join_all().await.iter().sum();
    let report = check_exclusion(&log.events());
    std::fs::remove_file(log.path()).expect("the log can be removed");
    println!("{holds} holds: {report}");
    report.assert_clean();
    assert_eq!((report.broken, report.unfinished), (0, 0));
    guard.release().await.expect("held to the end");
}

/// A slot with many keys takes long to move, and all the while a lock's keys may be on one side or on the other.
#[tokio::test]
async fn a_slow_migration_loses_no_hold() {
    let cluster = RedisCluster::start().await;
    let prefix = unique_prefix();
    let client = client(&cluster, &prefix).await;
    let lock = client.rw_lock("one").expect("a valid name");
    let slot = slot_of_lock(&prefix, "one");
    let key = format!("{prefix}:{{one}}");
    let guard = lock.write().await.expect("free");

    let to = (cluster.master_of(slot).await + 1) % 3;
    let migration = cluster.begin_migration(slot, to).await;
    for step in ["with the old owner", "with the new one"] {
        let outcome = tokio::time::timeout(3 * LEASE, guard.lost()).await;
        assert!(outcome.is_err(), "lost while its key was {step}");
        // Other locks of the slot are as usable: those that exist, and those that do not yet.
        for name in ["{one}new", "{one}old"] {
            let other = client.rw_lock(name).expect("a valid name");
            for _ in 0..3 {
                let guard = other.write_timeout(scaled(SOON)).await;
                let guard = guard.unwrap_or_else(|error| panic!("{step}: {error}"));
                guard.release().await.expect("held to the end");
            }
        }
        migration.move_keys(&[&key]).await;
    }
    guard.release().await.expect("held to the end");
    migration.finish().await;
    wait_free(&lock).await;
}
