//! What scripts cost beside many holds, old leases and tombstones, on a clock that the test moves.

use std::collections::BTreeMap;
use std::time::Duration;

use dlock::__internals::{HoldId, Op, Reply, ServerToken, Stray};
use dlock::LockMode::{self, Read, Write};
use dlock_tests::{StagedLock, shared_server};
use tokio::runtime::Runtime;

use crate::{LEASE, acquire, id, release};

/// How many holds a script reviews so that the next ones are cheap, at least.
const REVIEWED: usize = 16;

const BRIEF: Duration = Duration::from_millis(200);

fn lock() -> StagedLock {
    let server = Runtime::new().expect("a runtime").block_on(shared_server());
    StagedLock::new(server)
}

/// How many commands an operation runs that succeeds.
fn cost(lock: &StagedLock, op: &Op) -> u64 {
    lock.done(op).calls
}

/// What one more costs that comes and goes.
fn pair(lock: &StagedLock, number: usize, mode: LockMode) -> (u64, u64) {
    let entered = cost(lock, &acquire(number, mode));
    (entered, cost(lock, &release(number)))
}

/// Lets so many readers hold, whose leases have just been renewed, and who have been there for longer than a lease.
fn old_readers(lock: &StagedLock, count: usize) {
    let now = lock.now();
    let (end, kept) = (lock.after(LEASE), lock.after(2 * LEASE));
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
    lock.stage().restore(lock.key(), &fields, Some(kept), None);
}

/// Has an acquire of a client that gave up stay without effect for so long.
fn leave_tombstone(lock: &StagedLock, number: usize, valid: Duration) {
    let abandon = Op::Abandon {
        hold: id(number),
        stray: Stray::Possible,
    };
    let valid = lock.after(valid);
    let outcome = lock.play_with(&abandon, |scene| scene.valid_until = valid);
    assert_eq!(outcome.answer, Ok(Reply::Gone));
}

fn reader(number: usize) -> HoldId {
    HoldId::parse(&format!("reader/{number:016x}/1")).expect("an id")
}

/// The first ones review the holds, a few each.
#[test]
fn readers_that_overlap_for_longer_than_a_lease_cost_as_much_as_fresh_ones() {
    for count in [2, 50, 1000] {
        let lock = lock();
        old_readers(&lock, count);
        for number in 0..=count / REVIEWED {
            pair(&lock, number, Read);
        }
        for number in 0..10 {
            let number = 10_000 + number;
            assert_eq!(pair(&lock, number, Read), (4, 4), "beside {count}");
        }
        cost(&lock, &acquire(1, Write));
        assert_eq!(cost(&lock, &acquire(2, Write)), 4, "a place beside {count}");
    }
}

/// Beside a hold that lasts. The first ones clear those away, a few each.
#[test]
fn after_readers_whose_leases_have_ended_others_cost_as_much_as_before() {
    for count in [1, 50, 1000] {
        let lock = lock();
        cost(&lock, &acquire(1, Read));
        for number in 2..count + 2 {
            let mut brief = acquire(number, Read);
            if let Op::Acquire { lease, .. } = &mut brief {
                *lease = BRIEF;
            }
            cost(&lock, &brief);
        }
        lock.pass(2 * BRIEF);
        for number in 0..=count / REVIEWED {
            pair(&lock, 10_000 + number, Read);
        }
        for number in 0..10 {
            let number = 20_000 + number;
            assert_eq!(pair(&lock, number, Read), (4, 4), "after {count}");
        }
    }
}

#[test]
fn tombstones_make_nothing_more_expensive_for_others() {
    let long = Duration::from_secs(60);
    let lock = lock();
    let mut costs = Vec::new();
    let mut left = 0;
    for tombstones in [1, 10, 500] {
        while left < tombstones {
            leave_tombstone(&lock, 100_000 + left, long);
            left += 1;
        }
        let alone = pair(&lock, 10 * left, Write);
        cost(&lock, &acquire(1, Read));
        cost(&lock, &acquire(2, Read));
        let beside = pair(&lock, 10 * left + 1, Read);
        cost(&lock, &acquire(3, Write));
        let place = cost(&lock, &acquire(3, Write));
        for number in [1, 2, 3] {
            lock.done(&release(number));
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
    let lock = lock();
    for number in 0..TOMBSTONES {
        leave_tombstone(&lock, 100_000 + number, Duration::from_secs(3600));
    }
    pair(&lock, 0, Write);
    lock.pass(Duration::from_secs(60));
    for number in 0..TOMBSTONES {
        pair(&lock, number, Write);
    }
    let left = lock.play(&Op::Inspect).fields;
    assert_eq!(left.into_keys().collect::<Vec<_>>(), ["t"]);
    assert_eq!(cost(&lock, &acquire(1, Write)), 5);
}

#[test]
fn raising_a_token_costs_the_same_however_many_hold() {
    let mut costs = Vec::new();
    for count in [10, 1000, 5000] {
        let lock = lock();
        old_readers(&lock, count);
        let hour = Duration::from_secs(3600);
        let raise = Op::Raise {
            hold: reader(count / 2),
            token: ServerToken::new(lock.after(hour)),
        };
        costs.push(cost(&lock, &raise));
        let Ok(Reply::Info(info)) = lock.play(&Op::Inspect).answer else {
            panic!("no answer");
        };
        assert_eq!(info.holder_count(), count as u64);
        let passed = |hold: &dlock::HoldInfo| LEASE.saturating_sub(hold.remaining);
        let shorter = info.holders.iter().map(passed).max();
        assert_eq!(shorter, Some(Duration::from_micros(2)));
        lock.pass(LEASE);
        let mut entered = Ok(Reply::Again);
        while entered == Ok(Reply::Again) {
            entered = lock.play(&acquire(1, Write)).answer;
        }
        assert!(matches!(entered, Ok(Reply::Granted(_))), "{entered:?}");
    }
    assert!(costs.iter().all(|cost| *cost == costs[0]), "{costs:?}");
}
