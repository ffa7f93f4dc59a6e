//! The order in which waiters enter.

use dlock::__internals::Reply;

use crate::rules::lock::{LEASE, Lock, PLACE, abandon};

#[test]
fn writers_enter_in_the_order_in_which_they_came() {
    let lock = Lock::new();
    lock.write("a");
    for name in ["b", "c", "d"] {
        assert_eq!(lock.write(name), None);
    }
    for (holder, next, other) in [("a", "b", "d"), ("b", "c", "d"), ("c", "d", "new")] {
        lock.release(holder);
        assert_eq!(lock.write(other), None, "{other} before {next}");
        assert!(lock.write(next).is_some(), "{next}");
    }
}

#[test]
fn a_waiting_writer_keeps_new_readers_out() {
    let lock = Lock::new();
    lock.read("reader");
    assert_eq!(lock.write("writer"), None);
    assert_eq!(lock.read("late"), None);
    lock.release("reader");
    assert_eq!(lock.read("late"), None);
    assert!(lock.write("writer").is_some());
}

#[test]
fn after_a_writer_all_waiting_readers_enter_however_many_writers_wait() {
    let lock = Lock::new();
    lock.write("first");
    lock.write("second");
    lock.write("third");
    lock.read("a");
    lock.read("b");
    lock.release("first");
    assert_eq!(lock.write("second"), None);
    assert!(lock.read("a").is_some());
    // The turn of the readers who waited is not the turn of those who come now.
    assert_eq!(lock.read("late"), None);
    assert!(lock.read("b").is_some());
    lock.release("a");
    lock.release("b");
    assert!(lock.write("second").is_some());
}

#[test]
fn writers_and_readers_take_turns_under_constant_demand() {
    let lock = Lock::new();
    lock.write("writer-0");
    for turn in 1..50 {
        let (last, next) = (format!("writer-{}", turn - 1), format!("writer-{turn}"));
        let reader = format!("reader-{turn}");
        lock.write(&next);
        lock.read(&reader);
        lock.release(&last);
        assert!(lock.read(&reader).is_some(), "{reader}");
        lock.release(&reader);
        assert!(lock.write(&next).is_some(), "{next}");
    }
}

#[test]
fn a_refreshed_place_is_kept_and_a_lost_one_is_at_the_end() {
    let lock = Lock::new();
    lock.write("holder");
    lock.write("faithful");
    lock.write("absent");
    for _ in 0..22 {
        lock.pass(PLACE / 2);
        lock.renew("holder");
        lock.write("faithful");
        lock.write("third");
    }
    lock.write("absent");
    let line = lock.inspect().waiters;
    let names: Vec<_> = line.iter().map(|waiter| &waiter.id[..5]).collect();
    assert_eq!(names, ["faith", "third", "absen"]);
}

#[test]
fn a_waiter_that_leaves_makes_room() {
    let lock = Lock::new();
    lock.read("reader");
    lock.write("writer");
    assert_eq!(lock.read("late"), None);
    assert_eq!(lock.apply(&abandon("writer")), Reply::Done);
    assert!(lock.read("late").is_some());
}

#[test]
fn a_yielding_writer_goes_on_until_somebody_waits() {
    let lock = Lock::new();
    let first = lock.write("writer").expect("free");
    match lock.apply(&lock.end_of_slice("writer")) {
        Reply::Granted(token) => assert!(token.as_u64() > first),
        other => panic!("{other:?}"),
    }
    lock.read("reader");
    assert_eq!(lock.apply(&lock.end_of_slice("writer")), Reply::Done);
    assert!(lock.read("reader").is_some());
    assert_eq!(lock.apply(&lock.end_of_slice("writer")), Reply::Gone);
}

#[test]
fn a_yielding_reader_stays_but_learns_of_a_waiting_writer() {
    let lock = Lock::new();
    lock.read("reader");
    assert!(matches!(
        lock.apply(&lock.end_of_slice("reader")),
        Reply::Granted(_)
    ));
    lock.write("writer");
    assert_eq!(lock.apply(&lock.end_of_slice("reader")), Reply::Done);
    assert_eq!(lock.write("writer"), None);
    lock.release("reader");
    assert!(lock.write("writer").is_some());
}

#[test]
fn how_long_somebody_holds_and_others_wait_is_counted_from_when_they_came() {
    let lock = Lock::new();
    lock.write("holder");
    lock.pass(PLACE / 2);
    lock.write("next");
    lock.renew("holder");
    for _ in 0..2 {
        lock.pass(PLACE / 2);
        lock.write("next");
    }
    let info = lock.inspect();
    assert_eq!(info.holders[0].held_for, Some(PLACE * 3 / 2));
    assert_eq!(info.holders[0].remaining + PLACE, LEASE);
    assert_eq!(info.waiters[0].waiting_for, PLACE);
    assert_eq!(info.waiters[0].remaining, PLACE);
    lock.release("holder");
    assert_eq!(
        lock.inspect().holders[0].held_for,
        Some(std::time::Duration::ZERO)
    );
}
