//! What the scripts' quick ways must not forget, on a clock that the test moves.

use std::time::Duration;

use dlock::__internals::{Extent, HoldId, Keys, Nonce, Op, PlaceTerms, Reply, Stray, mutex_key};
use dlock::LockKind;
use dlock::LockMode::{self, Read, Write};
use dlock_tests::{Outcome, RedisServer, StagedLock, shared_server, unique_prefix};
use tokio::runtime::Runtime;

const HOUR: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(200);
const PLACE: Duration = Duration::from_secs(3);

fn lock() -> StagedLock {
    StagedLock::new(server())
}

fn server() -> &'static RedisServer {
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(shared_server())
}

/// Carries out an operation that succeeds; until when the key is kept after it.
fn kept(lock: &StagedLock, op: &Op) -> u64 {
    lock.done(op).kept.expect("an expiry")
}

fn id(name: &str) -> HoldId {
    HoldId::parse(&format!("{name}/0000000000000000/1")).expect("an id")
}

fn take(name: &str, mode: LockMode, lease: Duration) -> Op {
    Op::Acquire {
        hold: id(name),
        mode,
        lease,
        owner: None,
        place: None,
    }
}

/// Takes the lock or a place, as one that hears.
fn wait(name: &str) -> Op {
    Op::Acquire {
        hold: id(name),
        mode: Write,
        lease: HOUR,
        owner: None,
        place: Some(PlaceTerms {
            lease: PLACE,
            subscribed: true,
            nonce: Nonce::new(7),
        }),
    }
}

fn renew(name: &str, lease: Duration, extent: Extent) -> Op {
    Op::Renew {
        hold: id(name),
        lease,
        extent,
    }
}

fn release(name: &str, lease: Duration) -> Op {
    Op::Release {
        hold: id(name),
        lease,
        stray: Stray::None,
        spent: None,
    }
}

#[test]
fn a_reader_that_joins_with_a_long_lease_keeps_the_key_for_as_long() {
    let lock = lock();
    lock.done(&take("a", Read, SHORT));
    lock.done(&take("b", Read, SHORT));
    let kept = kept(&lock, &take("long", Read, HOUR));
    assert!(kept >= lock.after(HOUR), "{kept}");
}

#[test]
fn a_release_does_not_shorten_the_life_of_the_key_under_others() {
    let lock = lock();
    lock.done(&take("a", Read, HOUR));
    lock.done(&take("b", Read, HOUR));
    let until = lock.after(HOUR);
    lock.pass(SHORT);
    // A tombstone has it go the long way.
    let kept = kept(
        &lock,
        &Op::Release {
            hold: id("a"),
            lease: HOUR,
            stray: Stray::Possible,
            spent: None,
        },
    );
    assert!(kept >= until, "{kept}");
}

#[test]
fn the_only_hold_keeps_the_key_for_its_lease_when_another_one_waits() {
    let lock = lock();
    lock.done(&take("only", Write, HOUR));
    let until = lock.after(HOUR);
    let kept = kept(&lock, &wait("next"));
    assert!(kept >= until, "{kept}");
}

#[test]
fn a_renewal_that_arrives_late_does_not_put_off_the_end_that_a_hold_was_given() {
    let lock = lock();
    lock.done(&take("ends", Write, HOUR));
    lock.done(&wait("next"));
    let exactly = Extent::Exactly { stray: Stray::None };
    lock.done(&renew("ends", SHORT, exactly));
    lock.done(&renew("ends", HOUR, Extent::Longer));
    let Ok(Reply::Info(info)) = lock.play(&Op::Inspect).answer else {
        panic!("no answer");
    };
    assert!(info.holders[0].remaining < SHORT);
}

#[test]
fn a_waiter_that_was_passed_over_and_asks_again_has_its_turn_next() {
    let lock = lock();
    for name in ["holder", "absent", "next", "last"] {
        lock.done(&wait(name));
    }
    let told = |outcome: Outcome| {
        let names = outcome.told.iter();
        let names = names.map(|told| told.message.hold().client().as_str().to_owned());
        names.collect::<Vec<_>>()
    };
    let absent = ["absent/0000000000000000".to_owned()];
    let passed_over = told(lock.play_with(&release("holder", HOUR), |scene| scene.deaf = &absent));
    assert_eq!(passed_over.len(), 2, "{passed_over:?}");
    lock.done(&wait("absent"));
    let next = told(lock.play(&release("next", HOUR)));
    assert_eq!(next, ["absent/0000000000000000"]);
}

/// A server where a mutex' slot arrives has one of its two keys for a moment, so a waiter takes the mutex past its own place.
#[test]
fn a_mutex_that_was_given_its_end_is_not_passed_on_to_the_place_that_its_holder_had() {
    let prefix = unique_prefix();
    let key = mutex_key(LockKind::Mutex, &prefix, &format!("mutex-{prefix}"));
    let lock = StagedLock::of(server(), key.expect("a valid name"));
    let granted = |outcome: Outcome| {
        let answer = &outcome.answer;
        assert!(matches!(answer, Ok(Reply::Granted(_))), "{outcome:?}");
    };
    granted(lock.play(&take("holder", Write, SHORT)));
    lock.done(&wait("waiter"));
    lock.pass(2 * SHORT);
    granted(lock.play_with(&wait("waiter"), |scene| scene.keys = Keys::First));
    let exactly = Extent::Exactly { stray: Stray::None };
    lock.done(&renew("waiter", SHORT, exactly));
    lock.pass(2 * SHORT);
    granted(lock.play(&wait("next")));
}
