//! What an adversary has found: these fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use dlock::__internals::{MemoryStore, ServerClock};
use dlock::Client;
use dlock_tests::{RedisServer, connect, unique_prefix, wait_until};
use tokio::time::sleep;

const LEASE: Duration = Duration::from_secs(3);

/// Servers are replaced by empty ones, one after the other, with more than a third of the lease in between (DESIGN.md, "Quorum",
/// Restarts), while others wait for the lock: their attempts hold the empty server for a moment again and again, and a
/// renewal tries only once to have it record the hold.
async fn rolling(waiters: u32, rest: Duration, wanted: &'static str) {
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(RedisServer::start().await);
    }
    let (urls, prefix): (Vec<_>, _) = (
        servers.iter().map(RedisServer::url).collect(),
        unique_prefix(),
    );
    let builder = || Client::builder().quorum(&urls).prefix(&prefix);
    let client = builder().lease(LEASE).build().await.expect("there");
    let guard = client
        .rw_lock("a")
        .expect("ok")
        .write()
        .await
        .expect("free");
    let guard = Arc::new(guard);
    let over = Arc::new(AtomicBool::new(false));
    let both = Arc::new(AtomicU32::new(0));
    let mut waiting = Vec::new();
    for _ in 0..waiters {
        let other = builder().build().await.expect("there");
        let (guard, over, both) = (Arc::clone(&guard), Arc::clone(&over), Arc::clone(&both));
        waiting.push(tokio::spawn(async move {
            let lock = other.rw_lock(wanted).expect("ok");
            while !over.load(Ordering::Relaxed) {
                if let Ok(mine) = lock.write_timeout(Duration::from_millis(500)).await {
                    // Both are asked twice, so that they hold at the same moment.
                    if wanted == "a" && guard.check().is_ok() && mine.check().is_ok() && guard.check().is_ok() {
                        both.fetch_add(1, Ordering::Relaxed);
                        println!("two holders: the first for {:?} more", guard.lease_left());
                        over.store(true, Ordering::Relaxed);
                    }
                    sleep(Duration::from_millis(50)).await;
                    mine.release().await.ok();
                }
            }
        }));
    }
    sleep(LEASE / 2).await;
    let mut missing = 0;
    for round in 0..9 {
        let begun = Instant::now();
        servers[round % 3].restart().await;
        sleep(rest).await;
        if over.load(Ordering::Relaxed) || guard.is_lost() {
            break;
        }
        let alone = connect(&servers[round % 3].url(), &prefix).await;
        let info = alone.rw_lock("a").expect("ok").inspect().await;
        let recorded = info
            .expect("answered")
            .holders
            .iter()
            .any(|hold| hold.remaining > Duration::ZERO && hold.id.contains('/') && {
                hold.remaining <= LEASE
            });
        missing += u32::from(!recorded);
        println!(
            "round {round}: recorded anew after {:?}: {recorded}",
            begun.elapsed()
        );
    }
    over.store(true, Ordering::Relaxed);
    println!(
        "{waiters} waiters, {rest:?} in between: {missing} times not recorded, lost {}, two holders {}",
        guard.is_lost(),
        both.load(Ordering::Relaxed)
    );
    for task in waiting {
        task.await.expect("no panic");
    }
    assert_eq!(both.load(Ordering::Relaxed), 0, "two hold at once");
    assert!(!guard.is_lost(), "lost although only one server at a time was replaced");
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_replaced_one_after_the_other_while_one_waits() {
    rolling(1, LEASE / 2, "a").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_replaced_one_after_the_other_while_eight_wait() {
    rolling(8, LEASE / 2, "a").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_replaced_a_lease_apart_while_sixteen_wait() {
    rolling(16, LEASE, "a").await;
}

/// A clock that is wrong by so many microseconds.
#[derive(Debug)]
struct Wrong(i64);

impl ServerClock for Wrong {
    fn micros(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after");
        let micros = u64::try_from(since.as_micros()).expect("this millennium");
        micros.saturating_add_signed(self.0)
    }
}

/// A member that does not answer an acquire is never told a token that is ahead of the clocks, however long it is back.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_grow_although_a_member_was_silent_once_and_another_is_replaced_much_later() {
    let prefix = unique_prefix();
    let name = |what: &str| format!("{prefix}-{what}");
    let _ahead = MemoryStore::with_clock(Wrong(3_600_000_000)).under(&name("ahead"));
    let second = MemoryStore::with_clock(Wrong(0)).under(&name("second"));
    let third = RedisServer::start().await;
    let ahead = format!("memory://{}", name("ahead"));
    let urls = [ahead.clone(), format!("memory://{}", name("second")), third.url()];
    let client = Client::builder().quorum(&urls).prefix(&prefix).build().await;
    let client = client.expect("there");
    let lock = client.rw_lock("a").expect("ok");
    // Silent for 100 ms: longer than an attempt waits for it here, and than this hold lasts.
    let brief = lock.lease(Duration::from_secs(1));
    third.pause();
    let guard = brief.write().await.expect("the two others");
    let first = guard.fencing_token();
    guard.release().await.expect("held");
    sleep(Duration::from_millis(100)).await;
    third.resume();
    // All that is done in the background is done.
    sleep(Duration::from_secs(4)).await;
    client.shutdown().await.expect("all is given back");
    // The second is replaced by an empty one: a minority.
    drop(second);
    let _empty = MemoryStore::with_clock(Wrong(0)).under(&name("empty"));
    let urls = [ahead.clone(), format!("memory://{}", name("empty")), third.url()];
    let client = Client::builder().quorum(&urls).prefix(&prefix).build().await;
    let lock = client.expect("there").rw_lock("a").expect("ok");
    // The one whose clock is ahead is not in the next majority.
    let alone = connect(&ahead, &prefix).await.rw_lock("a").expect("ok");
    let held = alone.write().await.expect("free");
    wait_until(Duration::from_secs(5), "the next grant", || async {
        lock.try_write().await.expect("answered").is_some()
    })
    .await;
    let guard = lock.write().await.expect("two of three");
    let next = guard.fencing_token();
    held.release().await.expect("held");
    assert!(next > first, "{next:?} after {first:?}");
}

/// For comparison: this passes.
#[tokio::test(flavor = "multi_thread")]
async fn servers_are_replaced_one_after_the_other_while_nobody_waits() {
    rolling(0, LEASE / 2, "a").await;
}

/// For comparison, with the same load on the servers: this passes.
#[tokio::test(flavor = "multi_thread")]
async fn servers_are_replaced_one_after_the_other_while_sixteen_want_another_lock() {
    rolling(16, LEASE / 2, "b").await;
}
