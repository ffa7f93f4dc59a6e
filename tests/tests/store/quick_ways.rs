//! What the scripts' quick ways must not forget, on a clock that the test moves.

use std::time::Duration;

use dlock::__internals::{
    Extent, HoldId, Keys, Nonce, Op, PlaceTerms, Reply, ServerClock as _, Stray, lock_key,
    mutex_key,
};
use dlock::LockMode::{self, Read, Write};
use dlock::{LockKey, LockKind};
use dlock_tests::{Outcome, Pieces, Scene, Stage, TestClock, shared_server, unique_prefix};
use tokio::runtime::Runtime;

const HOUR: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(200);
const PLACE: Duration = Duration::from_secs(3);

struct Lock {
    stage: Stage,
    key: LockKey,
    clock: TestClock,
}

impl Lock {
    fn new() -> Self {
        Self::with(lock_key(&unique_prefix(), "lock").expect("a valid name"))
    }

    fn mutex() -> Self {
        let prefix = unique_prefix();
        let name = format!("mutex-{prefix}");
        Self::with(mutex_key(LockKind::Mutex, &prefix, &name).expect("a valid name"))
    }

    fn with(key: LockKey) -> Self {
        let server = Runtime::new().expect("a runtime").block_on(shared_server());
        Self {
            stage: Stage::on(server),
            key,
            clock: TestClock::default(),
        }
    }

    /// Carries out a request a millisecond later, while one client does not hear.
    fn past(&self, deaf: &str, op: &Op) -> Outcome {
        self.request(Keys::All, deaf, op)
    }

    fn request(&self, keys: Keys, deaf: &str, op: &Op) -> Outcome {
        self.pass(Duration::from_millis(1));
        let time = self.clock.micros();
        self.stage.play(&Scene {
            key: &self.key,
            op,
            valid_until: time + 2_000_000,
            time,
            publish: "P",
            deaf: &[format!("{deaf}/0000000000000000")],
            keys,
            plain: false,
            pieces: Pieces::Whole,
            fault: None,
        })
    }

    fn play(&self, op: &Op) -> Outcome {
        self.past("nobody", op)
    }

    /// Carries out an operation that succeeds; until when the key is kept after it.
    fn done(&self, op: &Op) -> u64 {
        let outcome = self.play(op);
        let answer = outcome.answer.expect("no error");
        let done = matches!(
            answer,
            Reply::Granted(_) | Reply::Done | Reply::Queued { .. }
        );
        assert!(done, "{op:?}: {answer:?}");
        outcome.kept.expect("an expiry")
    }

    fn remaining(&self) -> Duration {
        match self.play(&Op::Inspect).answer {
            Ok(Reply::Info(info)) => info.holders[0].remaining,
            other => panic!("{other:?}"),
        }
    }

    fn pass(&self, span: Duration) {
        self.clock.set(self.clock.micros() + micros(span));
    }

    /// The server's time in so long.
    fn in_(&self, span: Duration) -> u64 {
        self.clock.micros() + micros(span)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.stage.clear(&self.key);
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).expect("a short time")
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
    }
}

#[test]
fn a_reader_that_joins_with_a_long_lease_keeps_the_key_for_as_long() {
    let lock = Lock::new();
    lock.done(&take("a", Read, SHORT));
    lock.done(&take("b", Read, SHORT));
    let kept = lock.done(&take("long", Read, HOUR));
    assert!(kept >= lock.in_(HOUR), "{kept}");
}

#[test]
fn a_release_does_not_shorten_the_life_of_the_key_under_others() {
    let lock = Lock::new();
    lock.done(&take("a", Read, HOUR));
    lock.done(&take("b", Read, HOUR));
    let until = lock.in_(HOUR);
    lock.pass(SHORT);
    // A tombstone has it go the long way.
    let kept = lock.done(&Op::Release {
        hold: id("a"),
        lease: HOUR,
        stray: Stray::Possible,
    });
    assert!(kept >= until, "{kept}");
}

#[test]
fn the_only_hold_keeps_the_key_for_its_lease_when_another_one_waits() {
    let lock = Lock::new();
    lock.done(&take("only", Write, HOUR));
    let until = lock.in_(HOUR);
    let kept = lock.done(&wait("next"));
    assert!(kept >= until, "{kept}");
}

#[test]
fn a_renewal_that_arrives_late_does_not_put_off_the_end_that_a_hold_was_given() {
    let lock = Lock::new();
    lock.done(&take("ends", Write, HOUR));
    lock.done(&wait("next"));
    let exactly = Extent::Exactly { stray: Stray::None };
    lock.done(&renew("ends", SHORT, exactly));
    lock.done(&renew("ends", HOUR, Extent::Longer));
    assert!(lock.remaining() < SHORT);
}

#[test]
fn a_waiter_that_was_passed_over_and_asks_again_has_its_turn_next() {
    let lock = Lock::new();
    for name in ["holder", "absent", "next", "last"] {
        lock.done(&wait(name));
    }
    let told = |outcome: Outcome| {
        let names = outcome.told.iter();
        let names = names.map(|told| told.message.hold().client().as_str().to_owned());
        names.collect::<Vec<_>>()
    };
    let passed_over = told(lock.past("absent", &release("holder", HOUR)));
    assert_eq!(passed_over.len(), 2, "{passed_over:?}");
    lock.done(&wait("absent"));
    let next = told(lock.play(&release("next", HOUR)));
    assert_eq!(next, ["absent/0000000000000000"]);
}

/// A server where a mutex' slot arrives has one of its two keys for a moment, so a waiter takes the mutex past its own place.
#[test]
fn a_mutex_that_was_given_its_end_is_not_passed_on_to_the_place_that_its_holder_had() {
    let lock = Lock::mutex();
    let granted = |outcome: Outcome| {
        let answer = &outcome.answer;
        assert!(matches!(answer, Ok(Reply::Granted(_))), "{outcome:?}");
    };
    granted(lock.play(&take("holder", Write, SHORT)));
    lock.done(&wait("waiter"));
    lock.pass(2 * SHORT);
    granted(lock.request(Keys::First, "nobody", &wait("waiter")));
    let exactly = Extent::Exactly { stray: Stray::None };
    lock.done(&renew("waiter", SHORT, exactly));
    lock.pass(2 * SHORT);
    granted(lock.play(&wait("next")));
}
