//! Requests that come late have no effect.

use std::time::Duration;

use dlock::__internals::{Extent, Op, Reply, Stray};
use dlock::LockMode::Write;

use crate::rules::lock::{LEASE, Lock, PLACE, acquire, id};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn an_acquire_that_comes_too_late_takes_nothing_and_says_what_time_it_is() {
    let lock = Lock::new();
    let (sent, request) = (lock.now(), acquire("slow", Write, Some(PLACE)));
    lock.pass(SECOND);
    let reply = lock.carry_out_until(sent, &request, |_| true);
    assert_eq!(reply, Reply::TooLate(lock.now()));
    let info = lock.inspect();
    assert!(info.holders.is_empty() && info.waiters.is_empty());
}

#[test]
fn who_gave_up_is_ignored_for_as_long_as_the_acquire_is_valid() {
    let (hold, stray) = (id("gone"), Stray::Possible);
    let lease = LEASE;
    let ends = [
        Op::Abandon {
            hold: hold.clone(),
            stray,
        },
        Op::Release {
            hold,
            lease,
            stray,
            spent: None,
        },
    ];
    for end in ends {
        for acquired in [true, false] {
            let lock = Lock::new();
            let request = acquire("gone", Write, Some(PLACE));
            if acquired {
                lock.apply(&request);
            }
            let until = lock.now() + 1_000_000;
            lock.carry_out_until(until, &end, |_| true);
            assert_eq!(lock.apply(&request), Reply::Gone, "{end:?}");
            assert!(lock.try_write("other").is_some(), "{end:?}");
            lock.release("other");
            lock.pass(SECOND);
            assert!(matches!(lock.apply(&request), Reply::Granted(_)), "{end:?}");
        }
    }
}

/// Whether the hold was still there to be given its end or not.
#[test]
fn a_late_copy_of_an_acquire_takes_nothing_after_the_end_that_its_hold_was_given() {
    for held in [true, false] {
        let lock = Lock::new();
        let request = acquire("done", Write, Some(PLACE));
        if held {
            lock.apply(&request);
        }
        let end = Op::Renew {
            hold: id("done"),
            lease: SECOND / 100,
            extent: Extent::Exactly {
                stray: Stray::Possible,
            },
        };
        let reply = lock.carry_out_until(lock.now() + 1_000_000, &end, |_| true);
        assert_eq!(reply, if held { Reply::Done } else { Reply::Gone });
        lock.pass(SECOND / 2);
        assert_eq!(lock.apply(&request), Reply::Gone);
        assert!(lock.try_write("other").is_some());
    }
}

#[test]
fn a_late_copy_of_a_yield_extends_the_hold() {
    let lock = Lock::new();
    lock.write("holder");
    let first = lock.end_of_slice("holder");
    let Reply::Granted(token) = lock.apply(&first) else {
        panic!("nobody waits");
    };
    lock.write("next");
    assert_eq!(lock.apply(&first), Reply::Granted(token));
    assert!(lock.inspect().holders[0].id.starts_with("holder"));
    assert_eq!(lock.apply(&lock.end_of_slice("holder")), Reply::Done);
}
