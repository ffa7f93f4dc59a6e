//! What the scripts cost the server: the commands that run inside them.

mod flat;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dlock::__internals::{
    Extent, HoldId, Keys, Nonce, Op, PlaceTerms, Script, ServerToken, Stray, encode, encode_brief,
    encode_plain, lock_key, mutex_key, script_source,
};
use dlock::LockMode::{self, Read, Write};
use dlock::{LockKey, LockKind};
use dlock_tests::{RedisServer, sharded_channels, wait_waiters};
use redis::aio::MultiplexedConnection;

const LEASE: Duration = Duration::from_secs(30);

/// Requests are never too late here.
const VALID: u64 = (1 << 53) - 1;

/// A server of its own, whose statistics no other test disturbs.
struct Meter {
    server: RedisServer,
    connection: MultiplexedConnection,
    key: LockKey,
}

impl Meter {
    async fn new() -> Self {
        Self::of(lock_key("cost", "lock").expect("a valid name")).await
    }

    async fn of(key: LockKey) -> Self {
        let server = RedisServer::start().await;
        let client = redis::Client::open(server.url()).expect("a URL");
        Self {
            connection: client
                .get_multiplexed_async_connection()
                .await
                .expect("the server answers"),
            server,
            key,
        }
    }

    async fn ask(&mut self, command: &redis::Cmd) -> redis::Value {
        command
            .query_async(&mut self.connection)
            .await
            .expect("the server carries it out")
    }

    /// How many commands an operation's script runs.
    async fn cost(&mut self, op: &Op) -> u64 {
        self.ask(redis::cmd("CONFIG").arg("RESETSTAT")).await;
        let mut eval = redis::cmd("EVAL");
        eval.arg(script_source(Script::of(self.key.kind(), op)));
        let publishing = if sharded_channels() { "s" } else { "p" };
        encode(&mut eval, &self.key, Keys::All, op, publishing, VALID);
        self.ask(&eval).await;
        self.spent().await
    }

    /// The calls of the script that is tried first.
    async fn brief_cost(&mut self, op: &Op) -> u64 {
        self.ask(redis::cmd("CONFIG").arg("RESETSTAT")).await;
        let script = Script::brief(self.key.kind(), op).expect("there is one");
        let mut eval = redis::cmd("EVAL");
        eval.arg(script_source(script));
        encode_brief(&mut eval, &self.key, op);
        assert_eq!(self.ask(&eval).await, redis::Value::Int(1));
        self.spent().await
    }

    async fn spent(&mut self) -> u64 {
        let stats = self.server.command_stats().await;
        let inside = |name: &str| !name.starts_with("eval") && !name.starts_with("config");
        let calls = stats.iter().filter(|(name, _)| inside(name));
        calls.map(|(_, calls)| calls).sum()
    }
}

fn id(number: usize) -> HoldId {
    HoldId::parse(&format!("client/{:016x}/{number:x}", 0)).expect("an id")
}

fn acquire(number: usize, mode: LockMode) -> Op {
    Op::Acquire {
        hold: id(number),
        mode,
        lease: LEASE,
        owner: None,
        place: Some(PlaceTerms {
            lease: LEASE,
            subscribed: false,
            nonce: Nonce::of(&id(number)),
        }),
    }
}

fn release(number: usize) -> Op {
    Op::Release {
        hold: id(number),
        lease: LEASE,
        stray: Stray::None,
        spent: None,
    }
}

#[tokio::test]
async fn without_contention_an_acquire_runs_five_commands_and_a_release_is_one() {
    let mut meter = Meter::new().await;
    for mode in [Write, Read] {
        for first in [true, false] {
            let fewer = u64::from(first && mode == Write);
            let cost = meter.cost(&acquire(0, mode)).await;
            assert_eq!(cost, 5 - fewer, "acquire {mode}");
            assert_eq!(meter.cost(&release(0)).await, 2, "release {mode}");
            meter.cost(&acquire(0, mode)).await;
            let plain = encode_plain(&meter.key, &release(0)).expect("nothing else to note");
            let released = meter.ask(&plain).await;
            assert_eq!(released, redis::Value::Int(1), "release {mode}");
        }
    }
}

/// The second round of a writer on a quorum, and a release after it.
#[tokio::test]
async fn a_token_is_raised_by_three_commands() {
    let mut meter = Meter::new().await;
    meter.cost(&acquire(0, Write)).await;
    let raise = |ahead: u64| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let micros = now.expect("after 1970").as_micros();
        let now = u64::try_from(micros).expect("this millennium");
        Op::Raise {
            hold: id(0),
            token: ServerToken::new(now + ahead),
        }
    };
    // By now the clock has come to it.
    assert_eq!(meter.cost(&raise(0)).await, 3);
    assert_eq!(meter.cost(&raise(900_000)).await, 4, "and an expiry");
    let plain = encode_plain(&meter.key, &release(0)).expect("nothing else to note");
    assert_eq!(meter.ask(&plain).await, redis::Value::Int(1));
}

#[tokio::test]
async fn a_release_that_has_more_to_note_takes_a_script() {
    let key = lock_key("cost", "lock").expect("a valid name");
    let plain = |seconds, stray| {
        let op = Op::Release {
            hold: id(0),
            lease: Duration::from_secs(seconds),
            stray,
            spent: None,
        };
        encode_plain(&key, &op).is_some()
    };
    assert!(plain(60, Stray::None));
    assert!(
        !plain(61, Stray::None),
        "a lock is forgotten after a minute"
    );
    assert!(
        !plain(60, Stray::Possible),
        "a copy of the acquire may arrive"
    );
}

#[tokio::test]
async fn readers_that_share_cost_the_same_however_many_there_are() {
    let mut meter = Meter::new().await;
    for number in 0..2 {
        meter.cost(&acquire(number, Read)).await;
    }
    for number in 2..300 {
        assert_eq!(meter.cost(&acquire(number, Read)).await, 4, "{number}");
    }
    for number in 0..299 {
        assert!(meter.cost(&release(number)).await <= 6, "{number}");
    }
    assert_eq!(meter.cost(&release(299)).await, 4, "the last one");
}

#[tokio::test]
async fn a_hand_over_costs_the_same_however_many_wait() {
    let mut meter = Meter::new().await;
    meter.cost(&acquire(0, Write)).await;
    let mut waiting = 0;
    let mut costs = Vec::new();
    // The key's life is prolonged now and then.
    meter.cost(&acquire(1, Write)).await;
    for upto in [2, 4, 40, 400] {
        for number in waiting + 1..=upto {
            meter.cost(&acquire(number, Write)).await;
        }
        waiting = upto;
        let holder = costs.len();
        let refresh = meter.cost(&acquire(upto, Write)).await;
        let release = meter.cost(&release(holder)).await;
        let enter = meter.cost(&acquire(holder + 1, Write)).await;
        costs.push((refresh, release, enter));
    }
    costs.remove(0); // Then the lock has been the only one's shortly before.
    assert!(costs.windows(2).all(|pair| pair[0] == pair[1]), "{costs:?}");
}

fn mutex(kind: LockKind) -> LockKey {
    mutex_key(kind, "cost", "mutex").expect("a valid name")
}

fn renew(number: usize) -> Op {
    Op::Renew {
        hold: id(number),
        // The rest of the lease is certainly less, also within the millisecond of the grant.
        lease: LEASE + Duration::from_millis(100),
        extent: Extent::Longer,
    }
}

#[tokio::test]
async fn a_mutex_is_one_command_to_take_and_two_to_give_back() {
    let mut meter = Meter::of(mutex(LockKind::Mutex)).await;
    for _ in 0..2 {
        let plain = encode_plain(&meter.key, &acquire(0, Write)).expect("no token to note");
        assert_eq!(meter.ask(&plain).await, redis::Value::Okay);
        assert_eq!(meter.cost(&renew(0)).await, 4, "renew");
        assert_eq!(meter.brief_cost(&release(0)).await, 2, "release");
    }
    assert!(encode_plain(&meter.key, &release(0)).is_none());
}

#[tokio::test]
async fn a_mutex_with_a_token_notes_it_beside() {
    let mut meter = Meter::of(mutex(LockKind::FencedMutex)).await;
    assert!(encode_plain(&meter.key, &acquire(0, Write)).is_none());
    for first in [true, false] {
        let costs = [acquire(0, Write), renew(0), release(0)];
        let mut spent = Vec::new();
        for op in &costs {
            spent.push(meter.cost(op).await);
        }
        assert_eq!(spent, if first { [6, 5, 8] } else { [7, 5, 8] });
    }
}

#[tokio::test]
async fn a_mutex_is_passed_on_at_the_same_cost_however_many_wait() {
    for kind in [LockKind::Mutex, LockKind::FencedMutex] {
        let mut meter = Meter::of(mutex(kind)).await;
        meter.cost(&acquire(0, Write)).await;
        let (mut waiting, mut costs) = (0, Vec::new());
        for upto in [2, 4, 40, 1000] {
            for number in waiting + 1..=upto {
                meter.cost(&acquire(number, Write)).await;
            }
            waiting = upto;
            let holder = costs.len();
            let refresh = meter.cost(&acquire(upto, Write)).await;
            let renew = meter.cost(&renew(holder)).await;
            let release = meter.cost(&release(holder)).await;
            let enter = meter.cost(&acquire(holder + 1, Write)).await;
            costs.push((refresh, renew, release, enter));
        }
        costs.remove(0); // Then the mutex has been the only one's shortly before.
        // A release that leaves the mutex to others for a moment, as five seconds are over, does less.
        let (refresh, renew, release, enter) = costs[0];
        for cost in &costs {
            assert!(
                cost.0 <= refresh && cost.1 <= renew && cost.2 <= release,
                "{costs:?}"
            );
            assert!(cost.3 <= enter, "{costs:?}");
        }
    }
}

/// A release that falls short, because other clients wait, makes the client release by scripts for a while.
#[tokio::test]
async fn a_lock_that_was_contended_once_is_soon_released_by_one_command_again() {
    let server = RedisServer::start().await;
    let connect = || async { dlock::Client::connect(&server.url()).await.expect("up") };
    let (one, other) = (connect().await, connect().await);
    let lock = |client: &dlock::Client| client.rw_lock("lock").expect("a valid name");
    let (one, other) = (lock(&one), lock(&other));
    let pairs = async |count: usize| {
        for _ in 0..count {
            let guard = one.write().await.expect("served");
            guard.release().await.expect("held to the end");
        }
        let stats = server.command_stats().await;
        let scripts = stats.iter().filter(|(name, _)| name.starts_with("eval"));
        scripts.map(|(_, calls)| calls).sum::<u64>()
    };
    let guard = one.write().await.expect("free");
    let waiter = tokio::spawn(async move { other.write().await?.release().await });
    wait_waiters(&one, 1).await;
    guard.release().await.expect("held to the end");
    waiter.await.expect("it ends").expect("handed over");
    let before = pairs(10).await;
    let more = pairs(10).await - before;
    assert_eq!(more, 10, "a script to acquire, and a command to release");
}
