//! What the dead leave behind, and for how long.

use std::time::Duration;

use dlock::__internals::{Extent, Op, Reply, Stray};
use dlock::LockMode::Write;

use crate::rules::lock::{LEASE, Lock, PLACE, acquire, id};

/// A fifth of the usual lease.
const SHORT: Duration = Duration::from_secs(2);
const MICRO: Duration = Duration::from_micros(1);

#[test]
fn a_dead_reader_is_gone_after_its_own_lease_whoever_else_reads() {
    let lock = Lock::new();
    lock.try_read("dead");
    lock.pass(LEASE / 2);
    lock.try_read("alive");
    lock.pass(LEASE / 2);
    let holders = lock.inspect().holders;
    assert_eq!(holders.len(), 1);
    assert!(holders[0].id.starts_with("alive"));
}

#[test]
fn a_hold_lasts_exactly_its_lease() {
    let lock = Lock::new();
    lock.try_write("holder");
    lock.pass_almost(LEASE);
    assert_eq!(lock.try_write("next"), None);
    lock.pass(MICRO);
    assert_eq!(lock.renew("holder"), Reply::Gone);
    assert!(lock.inspect().holders.is_empty());
    assert!(lock.try_write("next").is_some());
    assert_eq!(lock.release("holder"), Reply::Gone);
}

#[test]
fn a_late_release_finds_nothing_and_lets_nobody_in() {
    let lock = Lock::new();
    lock.try_write("holder");
    lock.write("next");
    lock.pass(LEASE);
    assert_eq!(lock.release("holder"), Reply::Gone);
    assert!(lock.write("next").is_some(), "it looks by itself");
}

#[test]
fn releasing_after_expiry_frees_nothing_of_the_next_holder() {
    let lock = Lock::new();
    lock.try_write("late");
    lock.pass(LEASE);
    lock.try_write("next");
    assert_eq!(lock.release("late"), Reply::Gone);
    assert_eq!(lock.try_write("third"), None);
}

#[test]
fn leases_do_not_cut_each_other_short() {
    let lock = Lock::new();
    lock.try_read("long");
    lock.apply(&Op::Acquire {
        hold: id("short"),
        mode: dlock::LockMode::Read,
        lease: SHORT,
        owner: None,
        place: None,
    });
    lock.renew("short");
    lock.release("short");
    lock.pass_almost(LEASE);
    assert_eq!(lock.inspect().holders.len(), 1);
}

#[test]
fn a_renewal_never_shortens() {
    let lock = Lock::new();
    lock.try_write("holder");
    let renew = |extent| Op::Renew {
        hold: id("holder"),
        lease: SHORT,
        extent,
    };
    assert_eq!(lock.apply(&renew(Extent::Longer)), Reply::Done);
    assert_eq!(lock.inspect().holders[0].remaining, LEASE);
}

#[test]
fn a_hold_that_nobody_relies_on_ends_when_it_is_told_to() {
    let lock = Lock::new();
    lock.try_write("holder");
    lock.write("next");
    let end = Op::Renew {
        hold: id("holder"),
        lease: SHORT,
        extent: Extent::Exactly { stray: Stray::None },
    };
    assert_eq!(lock.apply(&end), Reply::Done);
    assert_eq!(lock.inspect().holders[0].remaining, SHORT);
    let reply = lock.apply(&acquire("next", Write, Some(PLACE)));
    assert!(matches!(reply, Reply::Queued { retry, .. } if retry == SHORT));
    lock.pass(SHORT);
    assert!(lock.write("next").is_some());
    assert_eq!(lock.apply(&end), Reply::Gone);
}

/// Copies that were held up on the way, and arrive when the hold has been given its end.
#[test]
fn what_arrives_late_does_not_put_the_end_of_a_hold_off() {
    let lock = Lock::new();
    lock.try_write("holder");
    let renew = |extent| Op::Renew {
        hold: id("holder"),
        lease: SHORT,
        extent,
    };
    let exactly = Extent::Exactly { stray: Stray::None };
    assert_eq!(lock.apply(&renew(exactly)), Reply::Done);
    lock.pass(SHORT / 2);
    assert_eq!(lock.apply(&renew(exactly)), Reply::Done);
    assert_eq!(lock.renew("holder"), Reply::Done);
    assert_eq!(lock.apply(&acquire("holder", Write, None)), Reply::Gone);
    assert_eq!(lock.inspect().holders[0].remaining, SHORT / 2);
    lock.pass(SHORT / 2);
    assert!(lock.try_write("next").is_some());
}

#[test]
fn a_dead_waiter_holds_others_up_until_its_place_is_lost_and_no_longer() {
    let lock = Lock::new();
    lock.try_write("holder");
    lock.write("dead");
    lock.pass(PLACE / 2);
    lock.write("next");
    lock.release("holder");
    // The next one is told when to look again: when the dead one's place is lost.
    let reply = lock.apply(&acquire("next", Write, Some(PLACE)));
    assert!(matches!(reply, Reply::Queued { retry, .. } if retry == PLACE / 2));
    lock.pass(PLACE / 2);
    assert!(lock.write("next").is_some());
}

#[test]
fn who_waits_for_a_hold_is_told_when_the_last_one_ends() {
    let lock = Lock::new();
    lock.try_read("first");
    lock.pass(SHORT);
    lock.try_read("second");
    lock.pass(SHORT);
    let reply = lock.apply(&acquire("writer", Write, None));
    assert_eq!(reply, Reply::Busy(4 * SHORT));
}

/// The crashed holder was granted the lock when the clock still was ahead.
#[test]
fn a_clock_that_is_set_back_keeps_a_crashed_hold_for_a_second_more_at_most() {
    for back in [SHORT / 4, SHORT, 100 * LEASE] {
        let lock = Lock::new();
        lock.try_write("dead");
        lock.step_back(back);
        assert_eq!(lock.write("waiter"), None);
        lock.pass_almost(LEASE);
        assert_eq!(lock.try_write("early"), None, "{back:?}");
        lock.pass(Duration::from_secs(1));
        assert!(lock.write("waiter").is_some(), "{back:?}");
    }
}
