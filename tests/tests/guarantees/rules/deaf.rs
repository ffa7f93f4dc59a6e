//! Waiters that should hear and do not.

use dlock::__internals::{Message, Op};
use dlock::LockMode::Write;

use crate::rules::lock::{Lock, PLACE, acquire, release};

/// The waiters that an operation notifies, and the holder of the lock then, while `deaf` does not hear.
fn told_past(lock: &Lock, deaf: &str, op: &Op) -> (Vec<String>, Option<String>) {
    let mut told = Vec::new();
    lock.carry_out(op, |message: &Message| {
        let client = message.hold().client().as_str().to_owned();
        let hears = client != deaf;
        told.push(client);
        hears
    });
    let holder = lock.inspect().holders.first().map(|hold| hold.id.clone());
    (told, holder)
}

#[test]
fn a_waiter_that_subscribed_and_does_not_hear_is_passed_over_at_once() {
    let lock = Lock::new();
    for name in ["holder", "dead", "next"] {
        lock.write(name);
    }
    let (told, holder) = told_past(&lock, "dead", &release("holder"));
    assert_eq!(told, ["dead", "next"]);
    assert_eq!(holder.as_deref(), Some("next/0"));
}

#[test]
fn it_keeps_its_place_in_case_it_comes_back() {
    let lock = Lock::new();
    for name in ["holder", "absent", "next", "last"] {
        lock.write(name);
    }
    told_past(&lock, "absent", &release("holder"));
    lock.write("absent");
    assert_eq!(lock.woken(&release("next")), ["absent"]);
}

#[test]
fn one_that_has_not_subscribed_yet_is_waited_for() {
    let lock = Lock::new();
    lock.write("holder");
    let mut early = acquire("early", Write, Some(PLACE));
    if let Op::Acquire {
        place: Some(place), ..
    } = &mut early
    {
        place.subscribed = false;
    }
    lock.apply(&early);
    lock.write("next");
    let (told, holder) = told_past(&lock, "early", &release("holder"));
    assert_eq!(told, ["early"]);
    assert_eq!(holder, None);
    assert_eq!(lock.write("next"), None);
    assert!(lock.write("early").is_some());
}
