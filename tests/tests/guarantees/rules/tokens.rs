//! Each grant has a larger token than all before it.

use std::time::Duration;

use dlock::__internals::{Op, ServerToken, Stray};
use dlock::LockMode;

use crate::rules::lock::{LEASE, Lock, id};

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
fn each_slice_has_a_token_of_its_own() {
    let lock = Lock::new();
    let mut last = lock.try_write("a").expect("free");
    for _ in 0..3 {
        lock.apply(&lock.end_of_slice("a"));
        let now = lock.inspect().last_token.expect("granted");
        let now = ServerToken::behind(now).as_u64();
        assert!(now > last);
        last = now;
    }
}

#[test]
fn the_last_token_is_remembered_until_a_second_after_the_lease() {
    let lock = Lock::new();
    lock.try_write("a");
    lock.release("a");
    lock.pass_almost(LEASE + SECOND);
    assert!(lock.inspect().last_token.is_some());
    lock.pass(Duration::from_millis(2));
    assert!(lock.inspect().last_token.is_none());
}

#[test]
fn a_free_lock_is_forgotten_after_a_minute_however_long_the_lease() {
    let lock = Lock::new();
    let hour = Duration::from_secs(3600);
    lock.apply(&Op::Acquire {
        hold: id("a"),
        mode: LockMode::Write,
        lease: hour,
        owner: None,
        place: None,
    });
    lock.apply(&Op::Release {
        hold: id("a"),
        lease: hour,
        stray: Stray::None,
        spent: None,
    });
    lock.pass(Duration::from_secs(60));
    assert!(lock.inspect().last_token.is_some());
    lock.pass(SECOND + Duration::from_millis(2));
    assert!(lock.inspect().last_token.is_none());
}
