//! Many tasks of one process on one lock: sharing, handing over, and leaving room for other processes.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use dlock::__internals::ServerToken;
use dlock::RwLock;
use dlock_tests::{
    SOON, connect, scaled, stores, unique_prefix, wait_free, wait_until, wait_waiters,
};
use tokio::{
    task::{JoinSet, yield_now},
    time::{sleep, timeout},
};

/// One lock as two processes see it.
async fn two_processes(url: &str) -> (RwLock, RwLock) {
    let prefix = unique_prefix();
    let lock = async || {
        let client = connect(url, &prefix).await;
        client.rw_lock("shared").expect("a valid name")
    };
    (lock().await, lock().await)
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_grow_from_hand_over_to_hand_over() {
    for url in stores().await {
        let (one, two) = two_processes(&url).await;
        let tokens = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = JoinSet::new();
        for number in 0..30 {
            let lock = if number % 3 == 0 { &two } else { &one }.clone();
            let tokens = Arc::clone(&tokens);
            tasks.spawn(async move {
                for _ in 0..20 {
                    let guard = lock.write().await.expect("the lock comes round");
                    let token = guard.fencing_token().as_u64();
                    tokens.lock().expect("no panic so far").push(token);
                    yield_now().await;
                    guard.release().await.expect("held to the end");
                }
            });
        }
        tasks.join_all().await;
        let tokens = tokens.lock().expect("no panic so far");
        assert_eq!(tokens.len(), 600);
        let out_of_order = tokens.windows(2).find(|pair| pair[0] >= pair[1]);
        assert_eq!(out_of_order, None, "{url}");
    }
}

/// After a failover that lost writes two servers may give a lock to two processes, and name tokens at the same time: what
/// one process passes on among its tasks must be none of those.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_passed_on_has_no_token_that_a_server_might_name() {
    for url in stores().await {
        let (lock, _) = two_processes(&url).await;
        let first = lock.write().await.expect("free");
        let mut last = first.fencing_token();
        let pass_on = {
            let lock = lock.clone();
            move || {
                let lock = lock.clone();
                tokio::spawn(async move { lock.write().await.expect("passed on") })
            }
        };
        let mut guard = first;
        for _ in 0..20 {
            let next = pass_on();
            yield_now().await;
            drop(guard);
            guard = next.await.expect("no panic");
            let info = lock.inspect().await.expect("answered");
            let named = info.last_token.expect("it is held");
            let token = guard.fencing_token();
            assert!(
                token > last && token >= named,
                "{url}: {token} after {last}"
            );
            let behind = ServerToken::behind(token);
            assert_eq!(behind, ServerToken::behind(named), "{url}: belongs to it");
            last = token;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_waiter_passes_its_turn_on() {
    for url in stores().await {
        let (lock, _) = two_processes(&url).await;
        for round in 0..100 {
            let guard = lock.write().await.expect("free");
            let waiter = |lock: RwLock| {
                tokio::spawn(async move { lock.write().await.map(drop).expect("granted") })
            };
            let first = waiter(lock.clone());
            let second = waiter(lock.clone());
            yield_now().await;
            // The turn and the cancellation meet at all points in time.
            let cancel = tokio::spawn(async move {
                sleep(Duration::from_micros(20 * (round % 10))).await;
                first.abort();
            });
            guard.release().await.expect("held to the end");
            let passed_on = timeout(scaled(SOON), second).await;
            passed_on
                .unwrap_or_else(|_| panic!("{url}: stuck in round {round}"))
                .expect("no panic");
            cancel.await.expect("no panic");
        }
        wait_free(&lock).await;
    }
}

#[tokio::test]
async fn a_lost_hold_lets_the_others_proceed() {
    for url in stores().await {
        let (lock, _) = two_processes(&url).await;
        let lease = Duration::from_millis(300);
        let lock = lock.lease(lease).max_hold(lease);
        let guard = lock.write().await.expect("free");
        // A writer like the first, which could have been handed the hold, and readers.
        let like = lock.write_timeout(scaled(SOON));
        let reader = lock.read_timeout(scaled(SOON));
        let (like, reader) = tokio::join!(
            async { drop(like.await.expect("the first is out")) },
            async { drop(reader.await.expect("the first is out")) },
        );
        let ((), ()) = (like, reader);
        assert!(guard.is_lost());
        drop(guard);
        wait_free(&lock).await;
    }
}

#[tokio::test]
async fn readers_of_a_process_share_a_hold() {
    for url in stores().await {
        let (one, two) = two_processes(&url).await;
        let mut guards = Vec::new();
        for _ in 0..10 {
            guards.push(one.read().await.expect("readers share"));
        }
        let info = one.inspect().await.expect("inspectable");
        assert_eq!(info.holders.len(), 1, "{url}");
        let other = two.read().await.expect("readers share");
        let info = one.inspect().await.expect("inspectable");
        assert_eq!(info.holders.len(), 2, "{url}");
        assert!(other.fencing_token() > guards[0].fencing_token());

        // The hold goes back with the last of them, not before.
        let last = guards.pop().expect("ten");
        drop(guards);
        drop(other);
        wait_until(SOON, "one hold is left", || async {
            one.inspect().await.expect("inspectable").holders.len() == 1
        })
        .await;
        assert!(two.try_write().await.expect("answered").is_none());
        last.release().await.expect("held to the end");
        wait_free(&one).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trying_to_read_succeeds_beside_others_who_try() {
    for url in stores().await {
        let (lock, _) = two_processes(&url).await;
        for _ in 0..20 {
            let mut tasks = JoinSet::new();
            for _ in 0..8 {
                let lock = lock.clone();
                tasks.spawn(async move { lock.try_read().await.expect("answered") });
            }
            let guards = tasks.join_all().await;
            let refused = guards.iter().filter(|guard| guard.is_none()).count();
            assert_eq!(refused, 0, "{url}: nobody writes or waits to");
            drop(guards);
        }
    }
}

#[tokio::test]
async fn trying_to_read_fails_beside_a_writer_who_waits() {
    for url in stores().await {
        let (one, two) = two_processes(&url).await;
        let guard = one.read().await.expect("free");
        let writer = tokio::spawn({
            let lock = two.clone();
            async move { lock.write().await.map(drop) }
        });
        wait_waiters(&one, 1).await;
        for lock in [&one, &two] {
            wait_until(SOON, "the slice of the readers is over", || async {
                lock.try_read().await.expect("answered").is_none()
            })
            .await;
        }
        drop(guard);
        writer.await.expect("no panic").expect("granted");
        wait_free(&one).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn overlapping_readers_do_not_starve_a_writer_elsewhere() {
    for url in stores().await {
        let (readers, writer) = two_processes(&url).await;
        let stop = Arc::new(AtomicBool::new(false));
        let reads = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for number in 0..6 {
            let (lock, stop) = (readers.clone(), Arc::clone(&stop));
            let reads = Arc::clone(&reads);
            tasks.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let guard = lock.read().await.expect("comes round");
                    // Of different lengths, so that there is always one of them.
                    sleep(Duration::from_millis(3 + number)).await;
                    drop(guard);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        wait_until(SOON, "the readers are at it", || async {
            reads.load(Ordering::Relaxed) > 20
        })
        .await;
        for _ in 0..5 {
            let before = reads.load(Ordering::Relaxed);
            let start = Instant::now();
            let guard = writer.write_timeout(scaled(SOON)).await;
            let guard = guard.unwrap_or_else(|error| panic!("{url}: {error}"));
            let passed = reads.load(Ordering::Relaxed) - before;
            assert!(
                passed < 200,
                "{url}: {passed} reads went first, for {:?}",
                start.elapsed()
            );
            guard.release().await.expect("held to the end");
            // And the writer does not starve the readers.
            let before = reads.load(Ordering::Relaxed);
            wait_until(SOON, "the readers go on", || async {
                reads.load(Ordering::Relaxed) > before + 6
            })
            .await;
        }
        stop.store(true, Ordering::Relaxed);
        tasks.join_all().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_gets_its_turn_during_hand_overs() {
    for url in stores().await {
        let (busy, other) = two_processes(&url).await;
        let stop = Arc::new(AtomicBool::new(false));
        let writes = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..8 {
            let (lock, stop) = (busy.clone(), Arc::clone(&stop));
            let writes = Arc::clone(&writes);
            tasks.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let guard = lock.write().await.expect("comes round");
                    writes.fetch_add(1, Ordering::Relaxed);
                    yield_now().await;
                    drop(guard);
                    yield_now().await;
                }
            });
        }
        wait_until(SOON, "the hold goes round", || async {
            writes.load(Ordering::Relaxed) > 100
        })
        .await;
        for _ in 0..10 {
            let guard = other.write_timeout(scaled(SOON)).await;
            guard
                .unwrap_or_else(|error| panic!("{url}: {error}"))
                .release()
                .await
                .expect("held to the end");
            let before = writes.load(Ordering::Relaxed);
            wait_until(SOON, "the busy process gets its turn too", || async {
                writes.load(Ordering::Relaxed) > before
            })
            .await;
        }
        stop.store(true, Ordering::Relaxed);
        tasks.join_all().await;
        wait_free(&other).await;
    }
}

/// The time of loss is the holder's: it hears before another client can get in.
#[tokio::test(flavor = "multi_thread")]
async fn a_hold_given_up_is_heard_of_before_the_next_one_begins() {
    for url in stores().await {
        let (one, two) = two_processes(&url).await;
        let lease = Duration::from_millis(250);
        let limited = one.lease(lease).max_hold(lease);
        for _ in 0..3 {
            let guard = limited.write().await.expect("free");
            let next = tokio::spawn({
                let lock = two.clone();
                async move {
                    let guard = lock.write().await.expect("granted");
                    (Instant::now(), guard)
                }
            });
            // A holder that looks now and then, without an await in between.
            let mut last_seen_held = Instant::now();
            tokio::task::block_in_place(|| {
                while guard.check().is_ok() {
                    last_seen_held = Instant::now();
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            let (entered, next) = next.await.expect("no panic");
            assert!(entered > last_seen_held, "{url}");
            let margin = entered - last_seen_held;
            assert!(
                margin >= Duration::from_millis(2),
                "{url}: {margin:?} is too short to stop"
            );
            next.release().await.expect("held to the end");
        }
    }
}
