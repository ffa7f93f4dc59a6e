//! Acquires that are dropped at any of their await points, while the network does its worst.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use dlock::{__internals::Script, Error, RwLock};
use dlock_tests::{Direction, ProxiedLock, SOON, request_of, scaled, wait_until, wait_waiters};
use tokio::task::JoinSet;

const LEASE: Duration = Duration::from_secs(1);
/// How long a place in the line lasts.
const PLACE: Duration = Duration::from_secs(1);
/// How soon nothing is left, unless requests or replies get lost.
const NORMALLY: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    LostReply,
    LostRequest,
    /// No wake-up arrives.
    NoMessages,
    /// Replies are held back until after the cancellation.
    Silence,
    /// All connections are cut at the cancellation.
    CutAll,
}

const FAULTS: [Fault; 6] = [
    Fault::None,
    Fault::LostReply,
    Fault::LostRequest,
    Fault::NoMessages,
    Fault::Silence,
    Fault::CutAll,
];

#[derive(Clone, Copy, Debug)]
enum Kind {
    Read,
    Write,
}

/// Polls until it has been pending so many times; `None` if it was dropped then.
async fn drop_after<T>(pending: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future: Pin<Box<_>> = Box::pin(future);
    let mut left = pending;
    poll_fn(move |context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

async fn acquire(lock: &RwLock, kind: Kind) -> Result<(), Error> {
    match kind {
        Kind::Read => lock.read().await?.release().await,
        Kind::Write => lock.write().await?.release().await,
    }
}

/// One way of being cancelled. Returns whether the acquire was still under way.
async fn cancel(kind: Kind, busy: bool, delay: Duration, fault: Fault, pending: usize) -> bool {
    let what = format!("{kind:?}, busy: {busy}, {delay:?}, {fault:?}, pending {pending} times");
    let ProxiedLock {
        proxy,
        lock,
        witness,
        ..
    } = ProxiedLock::start(|client| {
        let client = client.lease(LEASE);
        client.response_timeout(Duration::from_millis(300))
    })
    .await;
    let holder = if busy {
        Some(witness.write().await.expect("free"))
    } else {
        None
    };

    proxy.delay(Direction::Both, delay);
    let request = request_of(Script::Acquire);
    match fault {
        Fault::None | Fault::CutAll => {}
        Fault::LostReply => proxy.cut_after_request(request, 1),
        Fault::LostRequest => proxy.cut_before_request(request, 1),
        Fault::NoMessages => proxy.drop_pushes(true),
        Fault::Silence => proxy.blackhole(Direction::ToClient),
    }
    // The holder leaves while the other one waits or is being cancelled.
    let acquiring = drop_after(pending, Box::pin(acquire(&lock, kind)));
    let leaving = async {
        if let Some(holder) = holder {
            tokio::time::sleep(Duration::from_millis(3 * pending as u64)).await;
            holder.release().await.expect("held to the end");
        }
    };
    let scene = async {
        if fault == Fault::Silence {
            let silence = async {
                tokio::time::sleep(Duration::from_millis(60)).await;
                proxy.pass();
            };
            tokio::join!(async { tokio::join!(acquiring, silence).0 }, leaving)
        } else {
            tokio::join!(acquiring, leaving)
        }
    };
    let (outcome, ()) = tokio::time::timeout(scaled(SOON), scene)
        .await
        .unwrap_or_else(|_| panic!("it hangs: {what}"));
    if fault == Fault::CutAll {
        proxy.cut_all();
    }
    if let Some(outcome) = &outcome {
        assert!(outcome.is_ok(), "{what}: {outcome:?}");
    }
    let limit = match fault {
        Fault::None | Fault::NoMessages => NORMALLY + 4 * delay,
        _ => LEASE.max(PLACE),
    };
    wait_until(limit, &format!("nothing is left ({what})"), || async {
        let info = witness.inspect().await.expect("answered");
        info.holders.is_empty() && info.waiters.is_empty()
    })
    .await;
    outcome.is_none()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acquire_dropped_anywhere_leaves_nothing() {
    const AT_ONCE: usize = 8;
    let mut running = JoinSet::new();
    let mut cancelled = 0;
    for kind in [Kind::Read, Kind::Write] {
        for busy in [false, true] {
            for delay in [0, 3, 15].map(Duration::from_millis) {
                for fault in FAULTS {
                    for pending in [0, 1, 2, 3, 4, 6, 8] {
                        if running.len() == AT_ONCE
                            && let Some(ended) = running.join_next().await
                        {
                            cancelled += usize::from(ended.expect("no panic"));
                        }
                        running.spawn(Box::pin(cancel(kind, busy, delay, fault, pending)));
                    }
                }
            }
        }
    }
    cancelled += running.join_all().await.iter().filter(|was| **was).count();
    println!("{cancelled} of 504 were cancelled under way");
    assert!(cancelled > 200);
}

/// Inside of a process: tasks that wait for one that asks the server.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_leader_leaves_the_asking_to_the_next() {
    for pending in 0..6 {
        let ProxiedLock {
            proxy,
            lock,
            witness,
            ..
        } = ProxiedLock::start(|client| client).await;
        let holder = witness.write().await.expect("free");
        proxy.delay(Direction::Both, Duration::from_millis(2));

        // Polled once before the others start, so that it is the one that asks.
        let mut leader = Box::pin(drop_after(pending, acquire(&lock, Kind::Write)));
        let started = tokio::select! {
            biased;
            outcome = &mut leader => Some(outcome),
            () = async {} => None,
        };
        let mut followers = JoinSet::new();
        for number in 0..4 {
            let lock = lock.clone();
            let kind = if number % 2 == 0 {
                Kind::Write
            } else {
                Kind::Read
            };
            followers.spawn(async move { acquire(&lock, kind).await });
        }
        if started.is_none() {
            leader.await;
        }
        wait_waiters(&witness, 1).await;
        holder.release().await.expect("held to the end");
        let done = tokio::time::timeout(scaled(SOON), followers.join_all()).await;
        for outcome in done.unwrap_or_else(|_| panic!("stuck after {pending}")) {
            outcome.expect("its turn");
        }
        dlock_tests::wait_free(&witness).await;
    }
}
