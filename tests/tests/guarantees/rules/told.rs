//! Readers that were told to look and found the lock taken.

use dlock::__internals::{Message, Op};
use dlock::LockMode::{Read, Write};

use crate::rules::lock::{Lock, PLACE, acquire_as, release, terms};

/// The clients that an operation tells while `deaf` does not hear.
fn told_past(lock: &Lock, deaf: &str, op: &Op) -> Vec<String> {
    let mut told = Vec::new();
    lock.carry_out(op, |message: &Message| {
        let client = message.hold().client().as_str().to_owned();
        let hears = client != deaf;
        told.push(client);
        hears
    });
    told
}

#[test]
fn a_reader_that_came_while_an_owner_had_entered_again_to_write_is_told_once_more() {
    let lock = Lock::new();
    lock.write("first");
    let mut owner = acquire_as("owner", "x", Read);
    if let Op::Acquire { place, .. } = &mut owner {
        *place = Some(terms("x", PLACE));
    }
    lock.apply(&owner);
    assert_eq!(lock.read("reader"), None);
    assert_eq!(lock.woken(&release("first")), ["x", "reader"]);
    lock.apply(&owner);
    lock.apply(&acquire_as("owner", "upgrade", Write));
    assert_eq!(lock.read("reader"), None, "the owner writes");
    assert_eq!(lock.write("writer"), None);
    assert_eq!(lock.woken(&release("upgrade")), ["reader"]);
    assert!(lock.read("reader").is_some());
}

#[test]
fn a_reader_that_was_passed_over_and_hears_again_is_told_once_more() {
    let lock = Lock::new();
    lock.write("first");
    lock.read("reader");
    lock.write("second");
    lock.write("third");
    let told = told_past(&lock, "reader", &release("first"));
    assert_eq!(told, ["reader", "second"]);
    assert_eq!(lock.read("reader"), None, "the second one writes");
    assert_eq!(lock.woken(&release("second")), ["reader"]);
    assert!(lock.read("reader").is_some());
}
