//! Members whose clocks differ.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dlock::__internals::{MemoryStore, ServerClock};
use dlock::{Client, FencingToken};
use dlock_tests::{RedisServer, wait_until};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

use crate::quorum::Members;

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

const HOUR: i64 = 3_600_000_000;

/// Members with these clocks; the stores live as long as what is returned.
fn with_clocks<const N: usize>(wrong: [i64; N]) -> (Members, Vec<std::sync::Arc<MemoryStore>>) {
    let members = Members::new(N);
    let stores = members.urls.iter().zip(wrong).map(|(url, wrong)| {
        let name = url.strip_prefix("memory://").expect("in memory");
        MemoryStore::with_clock(Wrong(wrong)).under(name)
    });
    let stores = stores.collect();
    (members, stores)
}

async fn token(client: &Client) -> FencingToken {
    let guard = client
        .rw_lock("a")
        .expect("ok")
        .write()
        .await
        .expect("free");
    let token = guard.fencing_token();
    guard.release().await.expect("held");
    token
}

/// Has some members held by another, so that the next grant is by the others.
async fn without(members: &Members, held: &[usize]) -> Vec<dlock::WriteGuard> {
    let mut guards = Vec::new();
    for member in held {
        let lock = members.alone(*member).await.rw_lock("a").expect("ok");
        guards.push(lock.write().await.expect("free"));
    }
    guards
}

#[tokio::test]
async fn tokens_grow_from_majority_to_majority_although_one_clock_is_an_hour_ahead() {
    let (members, _stores) = with_clocks([HOUR, 0, 0, 0, 0]);
    let client = members.client().await;
    let mut last = None;
    // With the one that is ahead, without it, by those who had no part in the first grant.
    for held in [&[3, 4][..], &[0, 1], &[0, 2], &[1, 2], &[0, 3]] {
        members.wait_nothing_left("a").await;
        let guards = without(&members, held).await;
        let token = Some(token(&client).await);
        assert!(token > last, "{held:?}: {token:?} after {last:?}");
        last = token;
        for guard in guards {
            guard.release().await.expect("held");
        }
    }
}

#[tokio::test]
async fn a_hold_of_members_whose_clocks_differ_by_hours_lasts_and_ends_like_any_other() {
    let (members, _stores) = with_clocks([HOUR, -HOUR, 0, 700_000, -700_000]);
    let lease = Duration::from_millis(600);
    let client = members.builder().lease(lease).build().await.expect("there");
    let other = members.client().await.rw_lock("a").expect("ok");
    let guard = client
        .rw_lock("a")
        .expect("ok")
        .write()
        .await
        .expect("free");
    for _ in 0..30 {
        sleep(Duration::from_millis(50)).await;
        assert!(other.try_write().await.expect("answered").is_none());
        guard.check().expect("renewed");
    }
    let last = guard.fencing_token();
    guard.release().await.expect("held");
    let next = other.write().await.expect("free");
    assert!(next.fencing_token() > last);
}

/// The hold of a process that is gone.
#[tokio::test]
async fn a_lease_ends_whatever_token_it_was_raised_to() {
    let (members, _stores) = with_clocks([HOUR, 0, 0]);
    let lease = Duration::from_millis(800);
    let client = members.builder().lease(lease).build().await.expect("there");
    let lock = client.rw_lock("a").expect("ok").min_hold(lease);
    let guard = lock.write().await.expect("free");
    let token = guard.fencing_token();
    // It ends by itself.
    guard.release().await.expect("held");
    let other = members.client().await.rw_lock("a").expect("ok");
    let next = other.write_timeout(5 * lease).await.expect("it ends");
    assert!(next.fencing_token() > token);
}

/// A member whose clock is behind those of the others is told their tokens again and again.
#[tokio::test]
async fn a_hold_at_a_slow_clock_ends_although_tokens_are_ahead_of_it() {
    let (members, _stores) = with_clocks([0, 0, -500_000]);
    let lease = Duration::from_secs(1);
    let slow = members.alone(2).await.rw_lock("a").expect("ok");
    let dead = slow.clone().lease(lease).min_hold(lease).write().await;
    dead.expect("free").release().await.expect("held");
    let client = members.client().await;
    let until = Instant::now() + Duration::from_secs(10);
    while !slow.inspect().await.expect("it answers").holders.is_empty() {
        assert!(Instant::now() < until, "it does not end");
        token(&client).await;
        // In memory nothing else gives other tasks their turn.
        yield_now().await;
    }
}

#[tokio::test]
async fn tokens_grow_although_a_minority_is_replaced_by_empty_stores() {
    let (mut members, mut stores) = with_clocks([HOUR, 0, 0, 0, 0]);
    let mut last = None;
    for round in 0..10 {
        let client = members.client().await;
        let token = Some(token(&client).await);
        assert!(token > last, "{round}: {token:?} after {last:?}");
        last = token;
        client.shutdown().await.expect("all is given back");
        members.wait_nothing_left("a").await;
        // Two of five are new, with a right clock.
        for offset in 0..2 {
            let number = (round + offset) % 5;
            let name = format!("{}-{number}-{round}", members.prefix);
            stores[number] = MemoryStore::with_clock(Wrong(0)).under(&name);
            members.urls[number] = format!("memory://{name}");
        }
    }
}

/// A member that was down is told a token that is ahead of the clocks when it is back.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_grow_although_a_member_was_down_and_another_is_replaced_later() {
    let (mut members, mut stores) = with_clocks([HOUR, 0]);
    let third = RedisServer::start().await;
    members.urls.push(third.url());
    let client = members.client().await;
    let lock = client
        .rw_lock("a")
        .expect("ok")
        .lease(Duration::from_secs(1));
    third.kill();
    let guard = lock.write().await.expect("the two others");
    guard.release().await.expect("held");
    // All who answer have been told that one, so that the next tokens are close together.
    let guard = lock.write().await.expect("free");
    let first = guard.fencing_token();
    guard.release().await.expect("held");
    // Longer than anything that is sent is valid for.
    sleep(Duration::from_secs(5)).await;
    third.restart().await;
    let alone = members.alone(2).await.rw_lock("a").expect("ok");
    wait_until(
        Duration::from_secs(10),
        "the third knows the token",
        || async {
            let info = alone.inspect().await.expect("it answers");
            info.last_token >= Some(first)
        },
    )
    .await;
    client.shutdown().await.expect("all is given back");
    // The second is replaced, and the first, whose clock is ahead, is held by another client.
    stores.pop();
    let name = format!("{}-empty", members.prefix);
    let _empty = MemoryStore::with_clock(Wrong(0)).under(&name);
    members.urls[1] = format!("memory://{name}");
    let ahead = members.alone(0).await.rw_lock("a").expect("ok");
    let held = ahead.write().await.expect("free");
    let next = token(&members.client().await).await;
    held.release().await.expect("held");
    assert!(next > first, "{next:?} after {first:?}");
}
