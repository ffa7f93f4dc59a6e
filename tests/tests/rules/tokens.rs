//! Each grant has a larger token than all before it.

use std::time::Duration;

use dlock::__internals::{Op, fencing_token};

use crate::lock::{LEASE, Lock, id, yield_now};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn tokens_grow_whatever_happens_in_between() {
    type Event = (&'static str, fn(&Lock));
    let lock = Lock::new();
    let mut last = 0;
    let between: [Event; 6] = [
        ("nothing", |_| ()),
        ("a release", |lock| drop(lock.release("a"))),
        ("expiry", |lock| lock.pass(LEASE)),
        ("forgetting", |lock| lock.pass(2 * LEASE)),
        ("a clock that steps back", |lock| lock.step_back(LEASE / 2)),
        ("a clock that steps back after a release", |lock| {
            lock.release("a");
            lock.step_back(LEASE / 2);
        }),
    ];
    for (what, between) in between {
        between(&lock);
        lock.release("a");
        let token = lock.try_write("a").expect("free");
        assert!(token > last, "after {what}");
        last = token;
    }
}

#[test]
fn readers_that_share_have_tokens_of_their_own() {
    let lock = Lock::new();
    let (a, b) = (lock.try_read("a"), lock.try_read("b"));
    assert!(b > a);
}

#[test]
fn a_token_that_a_client_handed_out_is_never_granted_again() {
    let lock = Lock::new();
    let first = lock.try_write("a").expect("free");
    lock.apply(&Op::Release {
        hold: id("a"),
        last_token: fencing_token(first + 1000),
    });
    assert!(lock.try_write("b").expect("free") > first + 1000);
}

#[test]
fn the_token_of_a_stranger_changes_nothing() {
    let lock = Lock::new();
    let first = lock.try_write("a").expect("free");
    lock.apply(&Op::Release {
        hold: id("stranger"),
        last_token: fencing_token(first + 1000),
    });
    let last = lock.inspect().last_token.expect("granted before");
    assert_eq!(last.as_u64(), first);
}

#[test]
fn each_slice_has_a_token_of_its_own() {
    let lock = Lock::new();
    let mut last = lock.try_write("a").expect("free");
    for _ in 0..3 {
        lock.apply(&yield_now("a"));
        let now = lock.inspect().last_token.expect("granted").as_u64();
        assert!(now > last);
        last = now;
    }
}

#[test]
fn the_last_token_is_remembered_for_one_second() {
    let lock = Lock::new();
    lock.try_write("a");
    lock.release("a");
    lock.pass_almost(SECOND);
    assert!(lock.inspect().last_token.is_some());
    lock.pass(Duration::from_millis(1));
    assert!(lock.inspect().last_token.is_none());
}
