//! Locks that a process keeps for its next task.

use std::time::{Duration, Instant};

use dlock::{Client, ErrorKind, RwLock, WriteGuard};
use dlock_tests::{
    FaultProxy, RedisServer, builder, connect, scaled, stores, unique_prefix, wait_until,
};

/// Longer than any test takes.
const LINGER: Duration = Duration::from_secs(60);
/// The longest lease of such a hold.
const LEASE: Duration = Duration::from_secs(2);

fn lock(client: &Client, linger: Duration) -> RwLock {
    client.rw_lock("one").expect("a valid name").linger(linger)
}

/// A prefix, and a client under it whose lock lingers.
async fn start(url: &str) -> (String, Client, RwLock) {
    let prefix = unique_prefix();
    let client = connect(url, &prefix).await;
    let lock = lock(&client, LINGER);
    (prefix, client, lock)
}

/// The token of the last of many pairs: the server has named one for some two thousand.
async fn many_pairs(lock: &RwLock) -> dlock::FencingToken {
    for _ in 0..10_000 {
        pair(lock).await;
    }
    pair(lock).await
}

async fn pair(lock: &RwLock) -> dlock::FencingToken {
    let guard = lock.write().await.expect("served");
    let token = guard.fencing_token();
    guard.release().await.expect("held to the end");
    token
}

/// A client of its own, whose holds do not linger.
async fn other(url: &str, prefix: &str) -> RwLock {
    let client = connect(url, prefix).await;
    client.rw_lock("one").expect("a valid name")
}

/// Acquires from another client, which has to be asked back from the first one in time.
async fn ask_back(other: &RwLock) -> WriteGuard {
    let guard = other.write_timeout(scaled(LEASE / 2)).await;
    guard.expect("given back long before its lease ends")
}

#[tokio::test]
async fn the_next_task_gets_a_lock_that_lingers_without_a_request_and_with_a_larger_token() {
    let server = RedisServer::start().await;
    let client = connect(&server.url(), &unique_prefix()).await;
    let lock = lock(&client, LINGER);
    let mut last = pair(&lock).await;
    let before = server.command_stats().await;
    for _ in 0..10_000 {
        let token = pair(&lock).await;
        assert!(token > last);
        last = token;
    }
    for _ in 0..10 {
        drop(lock.write().await.expect("kept"));
    }
    let ran = server.command_stats().await.since(&before);
    assert!(ran.scripts() + ran.calls("hdel") < 100, "{ran:?}");
}

#[tokio::test]
async fn readers_are_admitted_without_a_request_until_a_writer_asks() {
    for url in stores().await {
        let (prefix, _client, lock) = start(&url).await;
        for _ in 0..1000 {
            let (one, two) = tokio::join!(lock.read(), lock.read());
            one.and(two).expect("kept").check().expect("held");
        }
        let other = other(&url, &prefix).await;
        drop(other.read().await.expect("readers share"));
        let guard = lock.read().await.expect("kept");
        let asks = tokio::spawn(async move { other.write().await });
        wait_until(scaled(LEASE), "a writer waits", || async {
            lock.inspect().await.expect("up").waiter_count() > 0
        })
        .await;
        let late = lock.clone();
        let late = tokio::spawn(async move { late.read().await });
        guard.check().expect("held");
        drop(guard);
        let writer = asks.await.expect("no panic").expect("given back");
        assert!(!late.is_finished(), "a reader came in before the writer");
        drop(writer);
        drop(late.await.expect("no panic").expect("its turn"));
    }
}

#[tokio::test]
async fn another_process_is_given_a_lock_that_lingers_with_a_larger_token() {
    for url in stores().await {
        let (prefix, _client, lock) = start(&url).await;
        let mut last = many_pairs(&lock).await;
        let other = other(&url, &prefix).await;
        let guard = ask_back(&other).await;
        assert!(guard.fencing_token() > last);
        last = guard.fencing_token();
        guard.release().await.expect("held to the end");
        assert!(pair(&lock).await > last);
        drop(ask_back(&other).await);
    }
}

#[tokio::test]
async fn another_process_gets_a_lock_that_is_used_all_the_time() {
    for url in stores().await {
        let (prefix, _client, lock) = start(&url).await;
        let users: Vec<_> = (0..3)
            .map(|_| {
                let lock = lock.clone();
                tokio::spawn(async move {
                    loop {
                        pair(&lock).await;
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        let other = other(&url, &prefix).await;
        for _ in 0..5 {
            let guard = ask_back(&other).await;
            guard.release().await.expect("held to the end");
        }
        for user in users {
            user.abort();
        }
    }
}

#[tokio::test]
async fn a_lock_that_lingers_is_given_back_although_every_message_is_lost() {
    let server = RedisServer::start().await;
    let proxy = FaultProxy::start(server.addr());
    let prefix = unique_prefix();
    let client = connect(&proxy.url(), &prefix).await;
    let lock = lock(&client, LINGER);
    pair(&lock).await;
    proxy.drop_revokes(true);
    let other = other(&server.url(), &prefix).await;
    // At the next renewal.
    drop(ask_back(&other).await);
}

#[tokio::test]
async fn a_lock_lingers_for_as_long_as_it_is_told_to() {
    for url in stores().await {
        let linger = scaled(Duration::from_millis(300));
        let client = connect(&url, &unique_prefix()).await;
        let lock = lock(&client, linger);
        pair(&lock).await;
        let since = Instant::now();
        let held = async || lock.inspect().await.expect("up").holder_count() > 0;
        assert!(held().await || since.elapsed() > linger);
        wait_until(10 * linger, "it goes back", async || !held().await).await;
        assert!(since.elapsed() >= linger, "{:?}", since.elapsed());
    }
}

#[tokio::test]
async fn the_end_of_a_client_gives_back_what_lingers() {
    for url in stores().await {
        for end in 0..3 {
            let prefix = unique_prefix();
            let client = connect(&url, &prefix).await;
            let lock = lock(&client, LINGER);
            pair(&lock).await;
            let other = other(&url, &prefix).await;
            match end {
                0 => client.shutdown().await.expect("given back"),
                1 => client.drain(scaled(LEASE)).await.expect("given back"),
                _ => drop((client, lock)),
            }
            let soon = scaled(LEASE / 4);
            wait_until(soon, "it is free", async || {
                other.inspect().await.expect("up").holder_count() == 0
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_task_that_wants_a_lingering_lock_otherwise_has_it_given_back_first() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let lock = lock(&client, LINGER);
        for _ in 0..3 {
            let reader = lock.read().await.expect("free");
            reader.release().await.expect("held to the end");
            let writer = lock.write_timeout(scaled(LEASE / 2)).await;
            let writer = writer.expect("the reader has left");
            writer.release().await.expect("held to the end");
        }
        let plain = client.rw_lock("one").expect("a valid name");
        drop(plain.write_timeout(scaled(LEASE / 2)).await.expect("free"));
        pair(&lock).await;
        let owner = plain.owner("me");
        drop(owner.write_timeout(scaled(LEASE / 2)).await.expect("free"));
    }
}

#[tokio::test]
async fn a_lock_for_which_others_were_in_line_does_not_linger() {
    for url in stores().await {
        let (prefix, _client, lock) = start(&url).await;
        let other = other(&url, &prefix).await;
        let first = other.write().await.expect("free");
        let queue = |lock: RwLock| tokio::spawn(async move { lock.write().await });
        let waiters = async |count| {
            wait_until(scaled(LEASE), "they wait", async || {
                other.inspect().await.expect("up").waiter_count() == count
            })
            .await;
        };
        let ours = queue(lock.clone());
        waiters(1).await;
        let theirs = queue(other.clone());
        // One task of a client asks for all: the other client's second task waits in its process.
        first.release().await.expect("held to the end");
        drop(ours.await.expect("no panic").expect("its turn"));
        let theirs = tokio::time::timeout(scaled(LEASE / 2), theirs).await;
        drop(
            theirs
                .expect("in time")
                .expect("no panic")
                .expect("its turn"),
        );
    }
}

#[tokio::test]
async fn a_lock_that_goes_to_and_fro_stops_lingering_for_a_while() {
    for url in stores().await {
        let prefix = unique_prefix();
        let (one, two) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        let (one, two) = (lock(&one, LINGER), lock(&two, LINGER));
        let since = Instant::now();
        let mut lingered = 0;
        for _ in 0..20 {
            pair(&one).await;
            pair(&two).await;
            lingered += two.inspect().await.expect("up").holder_count();
        }
        if since.elapsed() < Duration::from_secs(1) {
            assert!(lingered < 5, "{lingered}");
        }
    }
}

#[tokio::test]
async fn a_lingering_hold_that_was_taken_away_is_followed_by_larger_tokens() {
    for url in stores().await {
        let (prefix, _client, lock) = start(&url).await;
        let last = many_pairs(&lock).await;
        let other = other(&url, &prefix).await;
        let info = other.inspect().await.expect("up");
        let [hold] = &info.holders[..] else {
            panic!("{info:?}")
        };
        assert!(other.force_release(&hold.id).await.expect("it is there"));
        assert!(other.write().await.expect("free").fencing_token() > last);
    }
}

#[tokio::test]
async fn to_take_one_lingering_reader_away_leaves_the_others_their_leases() {
    for url in stores().await {
        let prefix = unique_prefix();
        let mut clients = Vec::new();
        for _ in 0..2 {
            let client = connect(&url, &prefix).await;
            drop(lock(&client, LINGER).read().await.expect("readers share"));
            clients.push(client);
        }
        let other = other(&url, &prefix).await;
        let newest = async || {
            let holders = other.inspect().await.expect("up").holders;
            let ages = holders.into_iter().map(|hold| (hold.held_for, hold.id));
            ages.min().expect("both linger").1
        };
        let id = newest().await;
        assert!(other.force_release(&id).await.expect("it is there"));
        assert_eq!(other.inspect().await.expect("up").holder_count(), 1);
        assert!(other.try_write().await.expect("up").is_none());
    }
}

#[tokio::test]
async fn a_lock_is_given_back_although_the_runtime_of_its_last_task_has_ended() {
    for url in stores().await {
        let (prefix, client, lock) = start(&url).await;
        let task = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            runtime.block_on(pair(&lock));
        });
        task.join().expect("no panic");
        let other = other(&url, &prefix).await;
        drop(ask_back(&other).await);
        drop(client);
    }
}

#[tokio::test]
async fn a_client_whose_locks_linger_has_locks_that_cannot() {
    for url in stores().await {
        let client = builder(&url, &unique_prefix()).linger(LINGER);
        let client = client.build().await.expect("up");
        let plain = || client.rw_lock("one").expect("a valid name");
        let held = async || plain().inspect().await.expect("up").holder_count();
        for lock in [plain().owner("me"), plain().linger(Duration::ZERO)] {
            pair(&lock).await;
            assert_eq!(held().await, 0);
        }
        pair(&plain()).await;
        assert_eq!(held().await, 1);
        let nightly = client.rw_lock("two").expect("a valid name");
        pair(&nightly.min_hold(Duration::from_millis(1))).await;
    }
}

#[tokio::test]
async fn one_waiter_does_not_stop_a_lock_from_lingering() {
    for url in stores().await {
        let (prefix, _client, lock) = start(&url).await;
        let other = other(&url, &prefix).await;
        let guard = lock.write().await.expect("free");
        let asks = tokio::spawn(async move { pair(&other).await });
        let since = Instant::now();
        // The waiter asks again, and renewals tell of it.
        wait_until(20 * LEASE, "it has waited", async || {
            since.elapsed() > LEASE
        })
        .await;
        drop(guard);
        asks.await.expect("no panic");
        pair(&lock).await;
        assert_eq!(lock.inspect().await.expect("up").holder_count(), 1);
    }
}

#[tokio::test]
async fn max_hold_does_not_count_while_no_task_uses_the_lock() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let max_hold = scaled(Duration::from_millis(600));
        let lock = lock(&client, LINGER).lease(max_hold).max_hold(max_hold);
        pair(&lock).await;
        let since = Instant::now();
        wait_until(10 * max_hold, "max_hold is over", async || {
            since.elapsed() > 2 * max_hold
        })
        .await;
        let guard = lock.write().await.expect("kept");
        guard.check().expect("it has just begun");
        let lost = tokio::time::timeout(10 * max_hold, guard.lost()).await;
        assert_eq!(lost.expect("in time"), dlock::LossReason::MaxHold);
    }
}

#[tokio::test]
async fn settings_that_contradict_linger_are_refused() {
    let client = connect("memory://", &unique_prefix()).await;
    let short = Duration::from_millis(100);
    for lock in [
        lock(&client, short).owner("me"),
        lock(&client, short).min_hold(short),
        lock(&client, Duration::from_secs(61)),
    ] {
        let error = lock.write().await.expect_err("a contradiction");
        assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error}");
        assert!(error.to_string().contains("linger"), "{error}");
    }
    let quorum = "memory://a memory://b memory://c";
    let settings = builder(quorum, &unique_prefix()).linger(short);
    let error = settings.build().await.expect_err("no messages");
    assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error}");
    let client = connect(quorum, &unique_prefix()).await;
    let error = lock(&client, short).write().await.expect_err("no messages");
    assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error}");
}

#[tokio::test]
async fn a_client_lets_its_locks_linger_if_it_is_built_so() {
    let server = RedisServer::start().await;
    let client = builder(&server.url(), &unique_prefix()).linger(LINGER);
    let client = client.build().await.expect("up");
    let lock = client.rw_lock("one").expect("a valid name");
    pair(&lock).await;
    let before = server.command_stats().await;
    for _ in 0..1000 {
        pair(&lock).await;
    }
    let ran = server.command_stats().await.since(&before);
    assert!(ran.scripts() < 100, "{ran:?}");
    // Mutexes are shared with programs that cannot ask.
    let mutex = client.mutex(unique_prefix()).expect("a valid name");
    let guard = mutex.lock().await.expect("free");
    guard.release().await.expect("held to the end");
    assert_eq!(mutex.inspect().await.expect("up").holder_count(), 0);
}
