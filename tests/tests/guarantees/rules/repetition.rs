//! Every operation may arrive twice.

use dlock::__internals::Reply;
use dlock::LockMode::{Read, Write};

use crate::rules::lock::{Lock, PLACE, abandon, acquire, release};

#[test]
fn acquiring_twice_is_one_hold_with_one_token() {
    let lock = Lock::new();
    for mode in [Read, Write] {
        let acquire = acquire("holder", mode, None);
        let first = lock.apply(&acquire);
        lock.pass(PLACE);
        assert_eq!(lock.apply(&acquire), first);
        assert_eq!(lock.inspect().holders.len(), 1);
        assert_eq!(lock.apply(&release("holder")), Reply::Done);
        assert!(lock.inspect().holders.is_empty());
    }
}

#[test]
fn queueing_twice_is_one_place() {
    let lock = Lock::new();
    lock.write("holder");
    for _ in 0..2 {
        lock.write("a");
        lock.write("b");
    }
    assert_eq!(lock.inspect().waiters.len(), 2);
}

#[test]
fn releasing_twice_frees_nothing_of_the_next_holder() {
    let lock = Lock::new();
    lock.read("a");
    lock.read("b");
    assert_eq!(lock.release("a"), Reply::Done);
    assert_eq!(lock.release("a"), Reply::Gone);
    assert_eq!(lock.try_write("writer"), None);
}

#[test]
fn renewing_twice_is_renewing_once() {
    let lock = Lock::new();
    lock.write("holder");
    lock.renew("holder");
    let before = lock.inspect();
    assert_eq!(lock.renew("holder"), Reply::Done);
    assert_eq!(lock.inspect(), before);
}

#[test]
fn abandoning_undoes_whatever_the_acquire_got() {
    let lock = Lock::new();
    lock.write("holder");
    lock.write("waiter");
    for name in ["holder", "waiter"] {
        assert_eq!(lock.apply(&abandon(name)), Reply::Done, "{name}");
        assert_eq!(lock.apply(&abandon(name)), Reply::Gone, "{name}");
    }
    let left = lock.inspect();
    assert!(left.holders.is_empty() && left.waiters.is_empty());
}

#[test]
fn yielding_twice_releases_once() {
    let lock = Lock::new();
    lock.write("holder");
    lock.write("next");
    assert_eq!(lock.apply(&lock.end_of_slice("holder")), Reply::Done);
    assert!(lock.write("next").is_some());
    assert_eq!(lock.apply(&lock.end_of_slice("holder")), Reply::Gone);
    assert_eq!(lock.inspect().holders.len(), 1);
}
