//! Places in the line while nothing is heard of their waiters, as when the server stands still.

use std::time::Duration;

use dlock::__internals::Reply;

use crate::rules::lock::{LEASE, Lock, PLACE, abandon, release};

/// For how long a place is kept after its end.
const KEPT: Duration = Duration::from_secs(10);
const MICRO: Duration = Duration::from_micros(1);

fn line(lock: &Lock) -> Vec<String> {
    let waiters = lock.inspect().waiters;
    let names = waiters
        .iter()
        .filter_map(|waiter| waiter.id.split_once('/'));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn waiters_keep_their_order_although_all_their_places_have_ended() {
    let lock = Lock::new();
    for name in ["holder", "a", "b", "c", "d"] {
        lock.write(name);
    }
    lock.pass(3 * PLACE);
    assert!(line(&lock).is_empty());
    // What lay in the server's sockets, in some order.
    for name in ["d", "b", "c", "a"] {
        assert_eq!(lock.write(name), None);
    }
    assert_eq!(line(&lock), ["a", "b", "c", "d"]);
    for (holder, next) in [("holder", "a"), ("a", "b"), ("b", "c"), ("c", "d")] {
        assert_eq!(lock.woken(&release(holder)), [next]);
    }
}

#[test]
fn readers_keep_their_turn_although_their_places_have_ended() {
    let lock = Lock::new();
    lock.write("holder");
    lock.read("early");
    lock.write("writer");
    lock.read("late");
    lock.pass(3 * PLACE);
    for name in ["late", "early"] {
        assert_eq!(lock.read(name), None);
    }
    assert_eq!(lock.write("writer"), None);
    lock.release("holder");
    assert!(lock.read("early").is_some());
    assert!(
        lock.read("late").is_some(),
        "it waited while a writer wrote"
    );
    assert_eq!(lock.write("writer"), None);
}

#[test]
fn a_place_that_has_ended_holds_nobody_up() {
    let lock = Lock::new();
    for name in ["holder", "dead", "next"] {
        lock.write(name);
    }
    lock.pass(PLACE);
    assert_eq!(lock.write("next"), None);
    assert_eq!(lock.woken(&release("holder")), ["next"]);
    assert!(lock.woken(&release("next")).is_empty());
    assert!(lock.try_write("newcomer").is_some());
}

#[test]
fn a_place_is_kept_for_ten_seconds_after_its_end_and_no_longer() {
    let lock = Lock::new();
    lock.write("holder");
    lock.write("absent");
    lock.pass(PLACE);
    lock.write("other");
    for _ in 0..9 {
        lock.pass(KEPT / 10);
        lock.renew("holder");
        lock.write("other");
    }
    lock.pass_almost(KEPT / 10);
    lock.write("absent");
    assert_eq!(line(&lock), ["absent", "other"]);

    lock.pass(MICRO + PLACE);
    for _ in 0..10 {
        lock.renew("holder");
        lock.write("other");
        lock.pass(KEPT / 10);
    }
    lock.write("other");
    lock.write("absent");
    assert_eq!(line(&lock), ["other", "absent"]);
}

#[test]
fn a_place_that_has_ended_can_be_given_up() {
    let lock = Lock::new();
    lock.write("holder");
    lock.write("gone");
    lock.pass(2 * PLACE);
    assert_eq!(lock.apply(&abandon("gone")), Reply::Done);
    assert_eq!(lock.apply(&abandon("gone")), Reply::Gone);
    assert!(LEASE > 2 * PLACE);
}
