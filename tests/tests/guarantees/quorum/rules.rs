//! The rules of holding a quorum's lock, and the answers about it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use dlock::{Client, Error, LockMode, distributed_lock};
use dlock_tests::wait_until;
use tokio::time::sleep;

use crate::quorum::Members;

const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_writer_is_alone_and_readers_share() {
    let members = Members::new(5);
    let (one, two) = (members.client().await, members.client().await);
    let (one, two) = (one.rw_lock("a").expect("ok"), two.rw_lock("a").expect("ok"));
    let writer = one.write().await.expect("free");
    assert!(two.try_read().await.expect("answered").is_none());
    assert!(two.try_write().await.expect("answered").is_none());
    writer.release().await.expect("held");
    let reader = one.read().await.expect("free");
    let beside = two.read().await.expect("shared");
    assert!(two.try_write().await.expect("answered").is_none());
    reader.release().await.expect("held");
    beside.release().await.expect("held");
    let writer = two.write().await.expect("free");
    writer.release().await.expect("held");
    members.wait_nothing_left("a").await;
}

#[tokio::test]
async fn who_waits_gets_the_lock_when_it_is_free() {
    let members = Members::new(3);
    let (one, two) = (members.client().await, members.client().await);
    let held = one.rw_lock("a").expect("ok").write().await.expect("free");
    let waiting = tokio::spawn(async move { two.rw_lock("a").expect("ok").write().await });
    sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());
    let first = held.fencing_token();
    held.release().await.expect("held");
    let next = waiting.await.expect("no panic").expect("its turn");
    assert!(next.fencing_token() > first);
}

#[tokio::test]
async fn patience_ends() {
    let members = Members::new(3);
    let (one, two) = (members.client().await, members.client().await);
    let _held = one.rw_lock("a").expect("ok").write().await.expect("free");
    let lock = two.rw_lock("a").expect("ok");
    let error = lock.write_timeout(Duration::from_millis(50)).await;
    assert!(error.expect_err("held").is_busy());
}

#[tokio::test]
async fn all_members_come_to_hold_it_and_are_all_told_of_its_end() {
    let members = Members::new(5);
    let client = members.client().await;
    let lock = client.rw_lock("a").expect("ok");
    let guard = lock.write().await.expect("free");
    let hold = lock.inspect().await.expect("answered").holders.remove(0);
    assert_eq!(hold.mode, LockMode::Write);
    let all_hold = || async {
        let infos = members.recorded("a").await;
        infos
            .iter()
            .all(|info| info.holders.len() == 1 && info.holders[0].id == hold.id)
    };
    wait_until(SOON, "all members hold", all_hold).await;
    assert_eq!(client.list("*").await.expect("answered"), ["a"]);
    guard.release().await.expect("held");
    members.wait_nothing_left("a").await;
}

#[tokio::test]
async fn a_hold_is_renewed_and_one_that_is_evicted_is_lost() {
    let members = Members::new(3);
    let client = members.builder().lease(Duration::from_millis(300));
    let client = client.build().await.expect("all are there");
    let lock = client.rw_lock("a").expect("ok");
    let guard = lock.write().await.expect("free");
    sleep(Duration::from_secs(1)).await;
    assert!(!guard.is_lost());
    let other = members.client().await.rw_lock("a").expect("ok");
    assert!(other.try_write().await.expect("answered").is_none());
    let info = other.inspect().await.expect("answered");
    assert!(
        other
            .force_release(&info.holders[0].id)
            .await
            .expect("answered")
    );
    wait_until(SOON, "the loss is noticed", || async { guard.is_lost() }).await;
    let _again = other.write().await.expect("free");
}

/// A member forgets it again and again: each renewal has it record it anew.
#[tokio::test]
async fn members_that_have_lost_it_one_after_the_other_record_it_anew() {
    let members = Members::new(3);
    let client = members.builder().lease(Duration::from_millis(600));
    let client = client.build().await.expect("all are there");
    let lock = client.rw_lock("a").expect("ok");
    let guard = lock.write().await.expect("free");
    let hold = lock.inspect().await.expect("answered").holders.remove(0).id;
    for round in 0..6 {
        let member = members.alone(round % 3).await.rw_lock("a").expect("ok");
        assert!(
            member.force_release(&hold).await.expect("answered"),
            "{round}"
        );
        wait_until(SOON, "it is recorded anew", || async {
            let info = member.inspect().await.expect("answered");
            info.holders.iter().any(|held| held.id == hold)
        })
        .await;
    }
    guard.release().await.expect("held to the end");
    members.wait_nothing_left("a").await;
}

#[tokio::test]
async fn a_minority_that_others_hold_is_not_in_the_way() {
    let members = Members::new(5);
    let mut held = Vec::new();
    for member in 0..2 {
        let other = members.alone(member).await.rw_lock("a").expect("ok");
        held.push(other.write().await.expect("free"));
    }
    let client = members.client().await;
    let guard = client
        .rw_lock("a")
        .expect("ok")
        .write()
        .await
        .expect("free");
    guard.release().await.expect("held");
}

/// Takes a lock half of the time, and counts.
async fn contend(client: &Client, name: &str, grants: &AtomicUsize) {
    let lock = client.rw_lock(name).expect("ok");
    loop {
        let guard = lock.write().await.expect("its turn");
        grants.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(1)).await;
        guard.release().await.expect("held");
        sleep(Duration::from_millis(3)).await;
    }
}

/// As a contender leaves them that dies while it asks, also where contenders meet; and beside another lock of the same slot.
#[tokio::test]
async fn holds_that_nobody_has_at_a_minority_are_in_no_contenders_way() {
    let members = Members::new(5);
    let (one, two) = (members.client().await, members.client().await);
    let names = ["{t}:a", "{t}:b"];
    let grants: [AtomicUsize; 4] = std::array::from_fn(|_| AtomicUsize::new(0));
    let all_have = |more: usize| {
        let grants = &grants;
        let goals = std::array::from_fn::<_, 4, _>(|n| grants[n].load(Ordering::Relaxed) + more);
        wait_until(Duration::from_secs(5), "all go on", move || {
            let mut all = grants.iter().zip(goals);
            let have = all.all(|(n, goal)| n.load(Ordering::Relaxed) >= goal);
            async move { have }
        })
    };
    let story = async {
        all_have(20).await;
        let mut held = Vec::new();
        for member in 0..2 {
            let alone = members.alone(member).await.rw_lock(names[0]).expect("ok");
            held.push(alone.write().await.expect("its turn"));
        }
        all_have(20).await;
    };
    tokio::select! {
        () = story => {}
        () = contend(&one, names[0], &grants[0]) => {}
        () = contend(&two, names[0], &grants[1]) => {}
        () = contend(&one, names[1], &grants[2]) => {}
        () = contend(&two, names[1], &grants[3]) => {}
    }
}

#[tokio::test]
async fn an_owner_enters_again_and_two_readers_who_want_to_write_are_told() {
    let members = Members::new(3);
    let (one, two) = (members.client().await, members.client().await);
    let one = one.rw_lock("a").expect("ok").owner("one");
    let two = two.rw_lock("a").expect("ok").owner("two");
    let (outer, inner) = (
        one.write().await.expect("free"),
        one.read().await.expect("its own"),
    );
    inner.release().await.expect("held");
    outer.release().await.expect("held");
    let (a, b) = (
        one.read().await.expect("free"),
        two.read().await.expect("shared"),
    );
    let error = one.write().await.expect_err("would wait for ever");
    assert!(error.is_would_deadlock());
    b.release().await.expect("held");
    let upgraded = one.write().await.expect("alone");
    upgraded.release().await.expect("held");
    a.release().await.expect("held");
}

#[tokio::test]
async fn a_lock_with_min_hold_stays_held() {
    let members = Members::new(3);
    let client = members.client().await;
    let lock = client.rw_lock("a").expect("ok");
    let lock = lock.min_hold(Duration::from_millis(400));
    let guard = lock.write().await.expect("free");
    guard.release().await.expect("held");
    let other = members.client().await.rw_lock("a").expect("ok");
    assert!(other.try_write().await.expect("answered").is_none());
    let later = other.write_timeout(Duration::from_secs(5)).await;
    let _later = later.expect("its time is over");
}

/// Tasks of a process pass it on for a slice, and let others in then.
#[tokio::test(flavor = "multi_thread")]
async fn two_busy_processes_take_turns() {
    let members = Members::new(3);
    let mut turns = Vec::new();
    for _ in 0..2 {
        let client = members.client().await;
        let count = Arc::new(AtomicU32::new(0));
        for _ in 0..4 {
            let lock = client.rw_lock("a").expect("ok");
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                loop {
                    let guard = lock.write().await.expect("its turn");
                    sleep(Duration::from_millis(2)).await;
                    count.fetch_add(1, Ordering::Relaxed);
                    guard.release().await.expect("held");
                }
            });
        }
        turns.push(count);
    }
    wait_until(4 * SOON, "both have had many turns", || async {
        turns.iter().all(|count| count.load(Ordering::Relaxed) > 50)
    })
    .await;
}

#[distributed_lock(key = "annotated", mode = "write", client = client)]
async fn annotated(client: &dlock::Client) -> Result<u64, Error> {
    Ok(7)
}

#[tokio::test]
async fn the_attribute_goes_the_same_way() {
    let members = Members::new(3);
    let client = members.client().await;
    assert_eq!(annotated(&client).await.expect("free"), 7);
    members.wait_nothing_left("annotated").await;
}

#[test]
fn threads_go_the_same_way() {
    let members = Members::new(3);
    let client = members.builder().build_blocking().expect("all are there");
    let lock = client.rw_lock("a").expect("ok");
    let guard = lock.write().expect("free");
    guard.release().expect("held");
}
