//! A process that holds many locks.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dlock_tests::{Worker, builder};
use tokio::sync::{Semaphore, mpsc, watch};

/// How many locks are given back and taken again for a probe of how waiters are woken.
pub(crate) const PROBED: usize = 20;

/// The file that asks for a probe.
pub(crate) const PROBE: &str = "probe";

#[derive(Debug, Default)]
struct Count {
    held: AtomicUsize,
    lost: AtomicUsize,
    errors: AtomicUsize,
}

/// Takes all locks and keeps them; takes one that was lost again. Prints what changes.
pub(crate) async fn run(url: &str, prefix: &str, count: &str, lease: &str) {
    let count: usize = count.parse().expect("a number");
    let lease = Duration::from_millis(lease.parse().expect("milliseconds"));
    let client = builder(url, prefix).lease(lease).build().await;
    let client = client.expect("the holder connects");
    let state = Arc::new(Count::default());
    let slowly = Arc::new(Semaphore::new(256));
    let (asks, asked) = watch::channel(0_u64);
    let (tell, mut told) = mpsc::unbounded_channel();
    for n in 0..count {
        let lock = client.rw_lock(format!("s{n}")).expect("a good name");
        let (state, slowly, tell) = (Arc::clone(&state), Arc::clone(&slowly), tell.clone());
        let asked = (n < PROBED).then(|| asked.clone());
        tokio::spawn(async move {
            let first = slowly.acquire_owned().await.expect("never closed");
            let mut first = Some(first);
            loop {
                let guard = match lock.write().await {
                    Ok(guard) => guard,
                    Err(error) => {
                        if state.errors.fetch_add(1, Ordering::Relaxed) < 3 {
                            println!("error {error}");
                        }
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                };
                first.take();
                state.held.fetch_add(1, Ordering::Relaxed);
                let probe = async {
                    match asked.clone() {
                        Some(mut asked) => {
                            asked.mark_unchanged();
                            let _ = asked.changed().await;
                        }
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    _ = guard.lost() => {
                        state.lost.fetch_add(1, Ordering::Relaxed);
                        state.held.fetch_sub(1, Ordering::Relaxed);
                    }
                    () = probe => {
                        state.held.fetch_sub(1, Ordering::Relaxed);
                        let began = Instant::now();
                        let _ = guard.release().await;
                        let again = lock.write().await;
                        let _ = tell.send(began.elapsed());
                        drop(again);
                    }
                }
            }
        });
    }
    let mut said = String::new();
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let (held, lost) = (&state.held, &state.lost);
        let (held, lost) = (held.load(Ordering::Relaxed), lost.load(Ordering::Relaxed));
        let errors = state.errors.load(Ordering::Relaxed);
        let now = format!("held {held} lost {lost} errors {errors}");
        if now != said {
            println!("{now}");
            said = now;
        }
        if Path::new(PROBE).exists() {
            let _ = std::fs::remove_file(PROBE);
            asks.send_modify(|n| *n += 1);
            let mut took = Vec::new();
            let all = async {
                while took.len() < PROBED {
                    took.extend(told.recv().await);
                }
            };
            let in_time = tokio::time::timeout(Duration::from_secs(20), all).await;
            took.sort_unstable();
            let middle = took.get(took.len() / 2).map_or(0, Duration::as_micros);
            println!("probed {} {middle}", u8::from(in_time.is_ok()));
        }
    }
}

/// What a holder has said last of a word.
pub(crate) fn said(worker: &Worker, word: &str) -> usize {
    let output = worker.output();
    let words: Vec<&str> = output.split_whitespace().collect();
    let at = words.iter().rposition(|said| *said == word);
    at.and_then(|at| words.get(at + 1)?.parse().ok())
        .unwrap_or(0)
}

/// How long it takes until a lock that was given back was a waiter's and is back, in the middle; `None` if that failed.
pub(crate) async fn probe(worker: &Worker) -> Option<Duration> {
    let probes = |output: &str| output.matches("probed ").count();
    let before = probes(&worker.output());
    worker.touch(PROBE);
    let limit = Duration::from_secs(40);
    dlock_tests::wait_until(limit, "the holder has probed", || async {
        probes(&worker.output()) > before
    })
    .await;
    let output = worker.output();
    let (_, last) = output.rsplit_once("probed ")?;
    let mut words = last.split_whitespace();
    let good = words.next() == Some("1");
    let micros = words.next()?.parse().ok()?;
    good.then(|| Duration::from_micros(micros))
}
