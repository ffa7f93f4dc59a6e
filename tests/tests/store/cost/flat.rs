//! What scripts cost beside many holds, old leases and tombstones, on a clock that the test moves.

use std::collections::BTreeMap;
use std::time::Duration;

use dlock::__internals::{HoldId, Keys, Op, Reply, ServerClock as _, ServerToken, Stray, lock_key};
use dlock::LockKey;
use dlock::LockMode::{self, Read, Write};
use dlock_tests::{Outcome, Pieces, Scene, Stage, TestClock, shared_server, unique_prefix};
use tokio::runtime::Runtime;

use crate::{LEASE, acquire, id, release};

/// How many holds a script reviews so that the next ones are cheap, at least.
const REVIEWED: usize = 16;

const BRIEF: Duration = Duration::from_millis(200);

/// A lock on a server whose clock goes on by a microsecond with each request.
struct Lock {
    stage: Stage,
    key: LockKey,
    clock: TestClock,
}

impl Lock {
    fn new() -> Self {
        let server = Runtime::new().expect("a runtime").block_on(shared_server());
        Self {
            stage: Stage::on(server),
            key: lock_key(&unique_prefix(), "lock").expect("a valid name"),
            clock: TestClock::default(),
        }
    }

    /// A request that is valid for so long.
    fn play(&self, op: &Op, valid: Duration) -> Outcome {
        self.pass(Duration::from_micros(1));
        let time = self.clock.micros();
        self.stage.play(&Scene {
            key: &self.key,
            op,
            valid_until: time + micros(valid),
            time,
            publish: "P",
            deaf: &[],
            keys: Keys::All,
            plain: false,
            pieces: Pieces::Whole,
            fault: None,
        })
    }

    /// How many commands an operation runs that succeeds.
    fn cost(&self, op: &Op) -> u64 {
        let outcome = self.play(op, Duration::from_secs(2));
        assert!(
            matches!(
                outcome.answer,
                Ok(Reply::Granted(_) | Reply::Done | Reply::Queued { .. })
            ),
            "{op:?}: {:?}",
            outcome.answer
        );
        outcome.calls
    }

    fn pass(&self, span: Duration) {
        self.clock.set(self.clock.micros() + micros(span));
    }

    /// What one more costs that comes and goes.
    fn pair(&self, number: usize, mode: LockMode) -> (u64, u64) {
        let entered = self.cost(&acquire(number, mode));
        (entered, self.cost(&release(number)))
    }

    /// Lets so many readers hold, whose leases have just been renewed, and who have been there for longer than a lease.
    fn old_readers(&self, count: usize) {
        let now = self.clock.micros();
        let (end, kept) = (now + micros(LEASE), now + 2 * micros(LEASE));
        let mut fields = BTreeMap::from([
            ("t".to_owned(), (now - 1).to_string()),
            ("h".to_owned(), format!("1 {count} 0 {}", now - 1)),
            ("x".to_owned(), kept.to_string()),
        ]);
        for number in 1..=count {
            let id = reader(number).to_string();
            fields.insert(format!("+{id}"), format!("r {end} {} {number} ", now - 1));
            fields.insert(format!("h{number}"), id);
        }
        self.stage.restore(&self.key, &fields, Some(kept), None);
    }

    /// Has an acquire of a client that gave up stay without effect for so long.
    fn leave_tombstone(&self, number: usize, valid: Duration) {
        let abandon = Op::Abandon {
            hold: id(number),
            stray: Stray::Possible,
        };
        assert_eq!(self.play(&abandon, valid).answer, Ok(Reply::Gone));
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.stage.clear(&self.key);
    }
}

fn reader(number: usize) -> HoldId {
    HoldId::parse(&format!("reader/{number:016x}/1")).expect("an id")
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).expect("a short time")
}

/// The first ones review the holds, a few each.
#[test]
fn readers_that_overlap_for_longer_than_a_lease_cost_as_much_as_fresh_ones() {
    for count in [2, 50, 1000] {
        let lock = Lock::new();
        lock.old_readers(count);
        for number in 0..=count / REVIEWED {
            lock.pair(number, Read);
        }
        for number in 0..10 {
            let number = 10_000 + number;
            assert_eq!(lock.pair(number, Read), (4, 4), "beside {count}");
        }
        lock.cost(&acquire(1, Write));
        assert_eq!(lock.cost(&acquire(2, Write)), 4, "a place beside {count}");
    }
}

/// Beside a hold that lasts. The first ones clear those away, a few each.
#[test]
fn after_readers_whose_leases_have_ended_others_cost_as_much_as_before() {
    for count in [1, 50, 1000] {
        let lock = Lock::new();
        lock.cost(&acquire(1, Read));
        for number in 2..count + 2 {
            let mut brief = acquire(number, Read);
            if let Op::Acquire { lease, .. } = &mut brief {
                *lease = BRIEF;
            }
            lock.cost(&brief);
        }
        lock.pass(2 * BRIEF);
        for number in 0..=count / REVIEWED {
            lock.pair(10_000 + number, Read);
        }
        for number in 0..10 {
            let number = 20_000 + number;
            assert_eq!(lock.pair(number, Read), (4, 4), "after {count}");
        }
    }
}

#[test]
fn tombstones_make_nothing_more_expensive_for_others() {
    let long = Duration::from_secs(60);
    let lock = Lock::new();
    let mut costs = Vec::new();
    let mut left = 0;
    for tombstones in [1, 10, 500] {
        while left < tombstones {
            lock.leave_tombstone(100_000 + left, long);
            left += 1;
        }
        let alone = lock.pair(10 * left, Write);
        lock.cost(&acquire(1, Read));
        lock.cost(&acquire(2, Read));
        let beside = lock.pair(10 * left + 1, Read);
        lock.cost(&acquire(3, Write));
        let place = lock.cost(&acquire(3, Write));
        for number in [1, 2, 3] {
            lock.play(&release(number), long);
        }
        costs.push((alone, beside, place));
    }
    assert_eq!(costs[0], ((5, 4), (4, 4), 5));
    assert!(costs.iter().all(|cost| *cost == costs[0]), "{costs:?}");
}

/// As from a client that has seen a clock that was an hour ahead.
#[test]
fn a_tombstone_lasts_for_a_minute_at_most() {
    const TOMBSTONES: usize = 300;
    let lock = Lock::new();
    for number in 0..TOMBSTONES {
        lock.leave_tombstone(100_000 + number, Duration::from_secs(3600));
    }
    lock.pair(0, Write);
    lock.pass(Duration::from_secs(60));
    for number in 0..TOMBSTONES {
        lock.pair(number, Write);
    }
    let left = lock.play(&Op::Inspect, LEASE).fields;
    assert_eq!(left.into_keys().collect::<Vec<_>>(), ["t"]);
    assert_eq!(lock.cost(&acquire(1, Write)), 5);
}

#[test]
fn raising_a_token_costs_the_same_however_many_hold() {
    let mut costs = Vec::new();
    for count in [10, 1000, 5000] {
        let lock = Lock::new();
        lock.old_readers(count);
        let hour = Duration::from_secs(3600);
        let raise = Op::Raise {
            hold: reader(count / 2),
            token: ServerToken::new(lock.clock.micros() + micros(hour)),
        };
        costs.push(lock.cost(&raise));
        let Ok(Reply::Info(info)) = lock.play(&Op::Inspect, LEASE).answer else {
            panic!("no answer");
        };
        assert_eq!(info.holder_count(), count as u64);
        let passed = |hold: &dlock::HoldInfo| LEASE.saturating_sub(hold.remaining);
        let shorter = info.holders.iter().map(passed).max();
        assert_eq!(shorter, Some(Duration::from_micros(2)));
        lock.pass(LEASE);
        let mut entered = Ok(Reply::Again);
        while entered == Ok(Reply::Again) {
            entered = lock.play(&acquire(1, Write), LEASE).answer;
        }
        assert!(matches!(entered, Ok(Reply::Granted(_))), "{entered:?}");
    }
    assert!(costs.iter().all(|cost| *cost == costs[0]), "{costs:?}");
}
