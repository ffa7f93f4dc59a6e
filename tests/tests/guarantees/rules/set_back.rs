//! A server's clock that is set back under long holds and waits.

use std::time::Duration;

use crate::rules::lock::{LEASE, Lock, PLACE};

/// How much later than its lease a crashed holder's lock is free at most, if others wait for it.
const LATE: Duration = Duration::from_secs(2);

/// How often a waiter asks.
const HEARTBEAT: Duration = Duration::from_millis(300);

/// Has a client wait for so long.
fn wait(lock: &Lock, name: &str, span: Duration) {
    for _ in 0..span.as_millis() / HEARTBEAT.as_millis() {
        assert_eq!(lock.write(name), None);
        lock.pass(HEARTBEAT);
    }
}

#[test]
fn a_hold_that_was_renewed_for_long_ends_after_its_lease() {
    for back in [LEASE / 5, LEASE, 3 * LEASE, 100 * LEASE] {
        let lock = Lock::new();
        lock.try_write("dead");
        for _ in 0..10 {
            lock.pass(LEASE / 3);
            lock.renew("dead");
        }
        lock.step_back(back);
        assert_eq!(lock.write("waiter"), None);
        lock.pass_almost(LEASE);
        assert_eq!(lock.try_write("early"), None, "{back:?}");
        lock.pass(LATE);
        assert!(lock.try_write("next").is_some(), "{back:?}");
    }
}

#[test]
fn shared_holds_that_were_renewed_for_long_end_after_their_leases() {
    for back in [LEASE / 5, LEASE, 3 * LEASE, 100 * LEASE] {
        let lock = Lock::new();
        lock.try_read("a");
        lock.try_read("b");
        for _ in 0..10 {
            lock.pass(LEASE / 3);
            lock.renew("a");
            lock.renew("b");
        }
        lock.step_back(back);
        assert_eq!(lock.write("waiter"), None);
        lock.pass_almost(LEASE);
        assert_eq!(lock.try_write("early"), None, "{back:?}");
        lock.pass(LATE);
        assert!(lock.try_write("next").is_some(), "{back:?}");
    }
}

/// Only the waiter does anything after the grant.
#[test]
fn a_crashed_holder_whose_lock_is_waited_for_is_gone_after_its_lease() {
    for back in [LEASE / 5, LEASE / 2, LEASE, 100 * LEASE] {
        let lock = Lock::new();
        lock.try_write("dead");
        wait(&lock, "waiter", LEASE / 2);
        lock.step_back(back);
        wait(&lock, "waiter", (LEASE / 2).saturating_sub(2 * HEARTBEAT));
        lock.pass(LATE + 2 * HEARTBEAT);
        assert!(lock.write("waiter").is_some(), "{back:?}");
    }
}

#[test]
fn a_dead_waiter_delays_nobody_for_longer() {
    for back in [5 * PLACE, 100 * LEASE] {
        let lock = Lock::new();
        lock.try_write("holder");
        lock.write("dead");
        wait(&lock, "waiter", PLACE.saturating_sub(HEARTBEAT));
        for _ in 0..5 {
            lock.write("dead");
            wait(&lock, "waiter", PLACE);
            lock.renew("holder");
        }
        lock.write("dead");
        lock.step_back(back);
        lock.release("holder");
        lock.pass(PLACE + LATE);
        assert!(lock.write("waiter").is_some(), "{back:?}");
    }
}
