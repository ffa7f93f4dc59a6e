//! Wake-up messages that get lost: waiters go on all the same, a heartbeat later at most.

mod relay;
mod taken_back;

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use dlock_tests::{ProxiedCluster, RedisCluster, SOON, SlotMigration, scaled, wait_until};

use relay::Relay;

/// How often waiters look without being told, and as much again for a busy machine. It is less than a place in the line
/// lasts, after which others would go on without the one that was not told.
const HEARTBEAT_AND_MORE: Duration = Duration::from_millis(600);
/// Less than a second: so often they look once they have waited for two.
const LATER_HEARTBEAT: Duration = Duration::from_millis(900);
/// How often they look at the least: clients whose requests take long look less often, and this machine may be busy.
const LONGEST_HEARTBEAT: Duration = Duration::from_secs(4);
const ROUNDS: usize = 6;

fn judge(waits: &[Duration], relay: &Relay) {
    let (messages, timers) = relay.wakeups();
    println!("{messages} messages, {timers} timers, waits of a free lock: {waits:.0?}");
    let mut sorted = waits.to_vec();
    sorted.sort_unstable();
    let most = sorted[sorted.len() * 7 / 8];
    assert!(
        most < scaled(HEARTBEAT_AND_MORE).min(LATER_HEARTBEAT),
        "{waits:?}"
    );
    let longest = sorted.last().expect("clients waited");
    assert!(*longest < LONGEST_HEARTBEAT, "{waits:?}");
}

#[tokio::test]
async fn swallowed_messages_cost_a_heartbeat() {
    let cluster = ProxiedCluster::start().await;
    let dropped = || -> u64 {
        let proxies = cluster.proxies().iter();
        proxies.map(|proxy| proxy.counters().dropped_pushes).sum()
    };
    let deaf = Relay::start(&cluster.url(), "deaf").await;
    let mut waits = Vec::new();
    for proxy in cluster.proxies() {
        proxy.drop_pushes(true);
    }
    for _ in 0..ROUNDS {
        waits.extend(deaf.round(async {}, async |()| {}).await);
    }
    judge(&waits, &deaf);
    assert!(dropped() >= waits.len() as u64, "only {}", dropped());
    let (messages, timers) = deaf.wakeups();
    assert_eq!(messages, 0);
    assert!(timers >= waits.len(), "every grant is counted");

    // With messages, the same takes them and no time.
    for proxy in cluster.proxies() {
        proxy.pass();
    }
    let hearing = Relay::start(&cluster.url(), "hearing").await;
    let mut heard = Vec::new();
    for _ in 0..ROUNDS {
        heard.extend(hearing.round(async {}, async |()| {}).await);
    }
    judge(&heard, &hearing);
    let (messages, timers) = hearing.wakeups();
    assert!(messages + timers >= heard.len(), "every grant is counted");
    // A heartbeat may come first; the turns of a round take a fraction of the time between two.
    assert!(4 * messages >= 3 * heard.len(), "{messages} messages");
    let total = |waits: &[Duration]| waits.iter().sum::<Duration>();
    assert!(total(&heard) < total(&waits), "{heard:?} {waits:?}");
}

#[tokio::test]
async fn killed_subscriptions_keep_nobody_waiting() {
    let cluster = RedisCluster::start().await;
    let relay = Relay::start(&cluster.url(), "killed").await;
    let (done, killed) = (AtomicBool::new(false), AtomicU64::new(0));
    let killing = async {
        // As fast as the servers take it would leave nothing for the locks on a small machine.
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        while !done.load(Ordering::Relaxed) {
            ticks.tick().await;
            for master in cluster.masters().await {
                let kill = ["CLIENT", "KILL", "TYPE", "pubsub"];
                let number: u64 = cluster.node(master).query(&kill).await;
                killed.fetch_add(number, Ordering::Relaxed);
            }
        }
    };
    let handing_on = async {
        let mut waits = Vec::new();
        for _ in 0..ROUNDS {
            let before = killed.load(Ordering::Relaxed);
            // More than there are clients: those that wait have lost theirs, and what they got instead.
            let losses = wait_until(SOON, "subscriptions are killed", || async {
                killed.load(Ordering::Relaxed) > before + 5
            });
            waits.extend(relay.round(losses, async |()| {}).await);
        }
        done.store(true, Ordering::Relaxed);
        waits
    };
    let ((), waits) = tokio::join!(killing, handing_on);
    let killed = killed.into_inner();
    println!("{killed} subscriptions killed");
    judge(&waits, &relay);
}

#[tokio::test]
async fn moving_slots_keep_nobody_waiting() {
    let cluster = RedisCluster::start().await;
    let relay = Relay::start(&cluster.url(), "moved").await;
    let first = cluster.master_of(relay.slot()).await;
    let mut waits = Vec::new();
    for round in 0..ROUNDS {
        let (cluster, slot) = (&cluster, relay.slot());
        let begun = async {
            let to = (cluster.master_of(slot).await + 1) % 3;
            let migration = cluster.begin_migration(slot, to).await;
            if round % 2 == 0 {
                migration.move_all_keys().await;
            }
            migration
        };
        // The holder leaves while the lock is on its way.
        let finish = async |migration: SlotMigration<'_>| migration.finish().await;
        waits.extend(relay.round(begun, finish).await);
        let there = cluster.master_of(slot).await;
        assert_eq!(there, (round + first + 1) % 3, "the slot has moved");
    }
    judge(&waits, &relay);
}
