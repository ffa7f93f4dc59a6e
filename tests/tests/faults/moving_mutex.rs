//! A mutex whose slot moves: its string and the hash beside it go one after the other, and may be at two nodes for long.

use std::time::Duration;

use dlock::{Client, LockKind, Mutex};
use dlock_tests::{
    Moved, RedisCluster, SOON, SlotMigration, builder, its_turn, not_applicable, scaled,
    unique_prefix, wait_until,
};

const LEASE: Duration = Duration::from_millis(900);

async fn client(cluster: &RedisCluster) -> Client {
    let client = builder(&cluster.url(), "dlock").lease(scaled(LEASE));
    client.build().await.expect("the cluster is up")
}

async fn begin<'c>(cluster: &'c RedisCluster, mutex: &Mutex) -> SlotMigration<'c> {
    let slot = mutex.key().slot().as_u16();
    let to = (cluster.master_of(slot).await + 1) % 3;
    cluster.begin_migration(slot, to).await
}

/// Whether another client has it.
async fn is_busy(mutex: &Mutex) -> bool {
    mutex.try_lock().await.expect("answered").is_none()
}

/// Which of the two keys has gone over: none, the string, the hash, both.
const GONE: [[bool; 2]; 4] = [[false, false], [true, false], [false, true], [true, true]];

/// One such case, on a mutex of its own.
async fn goes_on(cluster: &RedisCluster, clients: &[Client; 2], gone: [bool; 2], with_line: bool) {
    let name = unique_prefix();
    let case = format!("gone {gone:?}, line {with_line}");
    let [held, other] = [0, 1].map(|n| clients[n].mutex(&name).expect("a valid name"));
    let guard = held.lock().await.expect("free");
    let wait = || {
        let other = other.clone();
        tokio::spawn(async move { other.lock().await })
    };
    let early = with_line.then(wait);
    let hash = format!("dlock~m:{{{name}}}");
    if with_line {
        wait_until(SOON, "somebody waits", || async {
            let info = held.inspect().await.expect("answered");
            info.waiter_count() == 1
        })
        .await;
    }
    let migration = begin(cluster, &held).await;
    let keys = [name.as_str(), hash.as_str()];
    for (key, _) in keys.iter().zip(gone).filter(|(_, gone)| *gone) {
        migration.move_keys(&[key]).await;
    }
    // Renewed, and no other client gets in meanwhile.
    assert!(is_busy(&other).await, "{case}");
    let outcome = tokio::time::timeout(scaled(2 * LEASE), guard.lost()).await;
    if outcome.is_ok() {
        let why = guard.release().await;
        panic!("lost: {case}: {why:?}");
    }
    assert!(is_busy(&other).await, "{case}");
    let late = wait();
    guard.release().await.expect("held to the end");
    for waiting in early.into_iter().chain([late]) {
        let next = its_turn(waiting).await;
        assert!(is_busy(&held).await, "{case}");
        next.release().await.expect("held to the end");
    }
    migration.finish().await;
    let guard = held.lock().await.expect("free");
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn it_is_held_renewed_released_and_passed_on_wherever_its_two_keys_are() {
    let cluster = RedisCluster::start().await;
    let clients = [client(&cluster).await, client(&cluster).await];
    let lines = [false, true];
    let cases = GONE
        .into_iter()
        .flat_map(|gone| lines.map(|line| (gone, line)));
    let all = cases.map(|(gone, line)| goes_on(&cluster, &clients, gone, line));
    futures_util::future::join_all(all).await;
}

/// Its two keys go over together, and so do those who wait: their subscriptions end at the old owner.
#[tokio::test]
async fn it_is_held_renewed_and_passed_on_while_its_slot_moves_in_one_step() {
    let cluster = RedisCluster::start().await;
    let clients = [client(&cluster).await, client(&cluster).await];
    let name = unique_prefix();
    let [held, other] = [0, 1].map(|n| clients[n].mutex(&name).expect("a valid name"));
    let slot = held.key().slot().as_u16();
    let [here, there] = [&held, &other].map(|mutex| mutex.clone().fenced().expect("one slot"));
    let mut guard = here.lock().await.expect("free");
    for next in [&there, &here, &there] {
        let next = next.clone();
        let waiting = tokio::spawn(async move { next.lock().await });
        wait_until(SOON, "somebody waits", || async {
            let info = held.inspect().await.expect("answered");
            info.waiter_count() == 1
        })
        .await;
        let to = (cluster.master_of(slot).await + 1) % 3;
        let Some(migration) = cluster.begin_atomic_migration(slot, to).await else {
            return not_applicable("these servers move no slot in one step");
        };
        assert_eq!(migration.end().await, Moved::Yes);
        cluster.wait_ok().await;
        let outcome = tokio::time::timeout(scaled(2 * LEASE), guard.lost()).await;
        assert!(outcome.is_err(), "lost");
        let token = guard.fencing_token();
        guard.release().await.expect("held to the end");
        guard = its_turn(waiting).await;
        assert!(guard.fencing_token() > token);
    }
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn tokens_go_on_when_the_slot_has_moved() {
    let cluster = RedisCluster::start().await;
    let client = client(&cluster).await;
    let name = unique_prefix();
    let plain = client.mutex(&name).expect("a valid name");
    let fenced = plain.clone().fenced().expect("one slot");
    let guard = fenced.lock().await.expect("free");
    assert_eq!(guard.key().kind(), LockKind::FencedMutex);
    let first = guard.fencing_token();
    let migration = begin(&cluster, &plain).await;
    migration.move_keys(&[&name]).await;
    guard.release().await.expect("held to the end");
    // There is no token to be had while its keys are apart.
    let patience = scaled(Duration::from_millis(300));
    let outcome = fenced.lock_timeout(patience).await;
    assert!(outcome.is_err_and(|error| error.is_timeout() || error.is_unavailable()));
    migration.finish().await;
    let guard = fenced.lock().await.expect("free");
    assert!(guard.fencing_token() > first);
    guard.release().await.expect("held to the end");
}
