//! What the attribute costs on top of the guard API, without a network in between.
//!
//! `scripts/bench --cost`; fails when it is 1 µs or more per call.

use std::time::{Duration, Instant};

use dlock::{Client, Error, distributed_lock};

/// Many short rounds, taken in turns, the fastest of which nothing disturbed.
const ROUNDS: usize = 300;
const CALLS: u64 = 1_000;
const LIMIT: Duration = Duration::from_micros(1);

#[distributed_lock(key = "bench:{id}", client = client)]
async fn annotated(client: &Client, id: u64) -> Result<u64, Error> {
    Ok(id)
}

#[distributed_lock(key = "bench:{id}", client = client)]
async fn annotated_with_await(client: &Client, id: u64) -> Result<u64, Error> {
    pause().await;
    Ok(id)
}

async fn by_hand(client: &Client, id: u64) -> Result<u64, Error> {
    let lock = client.rw_lock(format!("bench:{id}"))?.label("bench:{id}");
    let guard = lock.write().await?;
    guard.release().await?;
    Ok(id)
}

async fn by_hand_with_await(client: &Client, id: u64) -> Result<u64, Error> {
    let lock = client.rw_lock(format!("bench:{id}"))?.label("bench:{id}");
    let guard = lock.write().await?;
    pause().await;
    guard.release().await?;
    Ok(id)
}

async fn pause() {
    tokio::task::yield_now().await;
}

/// Per call, over one round.
async fn round<F: Future<Output = Result<u64, Error>>>(call: impl Fn(u64) -> F) -> Duration {
    let start = Instant::now();
    for id in 0..CALLS {
        call(id).await.expect("nobody else holds it");
    }
    start.elapsed() / u32::try_from(CALLS).expect("few")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client = &Client::connect("memory://").await.expect("memory is there");
    let mut best = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        let took = [
            round(|id| by_hand(client, id)).await,
            round(|id| annotated(client, id)).await,
            round(|id| by_hand_with_await(client, id)).await,
            round(|id| annotated_with_await(client, id)).await,
        ];
        for (best, took) in best.iter_mut().zip(took) {
            *best = took.min(*best);
        }
    }
    let [hand, attribute, hand_waits, attribute_waits] = best;
    let extra = attribute.saturating_sub(hand);
    let extra_waits = attribute_waits.saturating_sub(hand_waits);
    println!("guards by hand:              {hand:?}");
    println!("the attribute:               {attribute:?}  (+{extra:?})");
    println!("by hand, the body waits:     {hand_waits:?}");
    println!("attribute, the body waits:   {attribute_waits:?}  (+{extra_waits:?})");
    assert!(extra.max(extra_waits) < LIMIT, "{LIMIT:?} or more");
}
