//! w8: the attribute against the guard written by hand, on the memory store.

use std::{hint::black_box, time::Instant};

use dlock::{Client, Error, distributed_lock};

use super::Lab;
use crate::results::Results;

const WARM_UP: u32 = 2_000;
const CALLS: u32 = 100_000;
/// As many keys as calls take turns on.
const IDS: u32 = 64;

#[distributed_lock(key = "bench:w8:{id}", mode = "write")]
async fn annotated(id: u32) -> Result<u32, Error> {
    Ok(black_box(id))
}

async fn by_hand(id: u32) -> Result<u32, Error> {
    let lock = dlock::installed()?.rw_lock(format!("bench:w8:{id}"))?;
    let guard = lock.write().await?;
    let output = black_box(id);
    guard.release().await?;
    Ok(output)
}

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let client = Client::connect("memory://").await;
    dlock::install(client.expect("memory is always there"));
    for _ in 0..lab.repeats * 3 {
        let took = tokio::spawn(time(by_hand)).await.expect("it ends well");
        results.add("w8", "guard", "time", "ns/call", took);
        let took = tokio::spawn(time(annotated)).await.expect("it ends well");
        results.add("w8", "attribute", "time", "ns/call", took);
    }
}

async fn time<F: Future<Output = Result<u32, Error>>>(call: impl Fn(u32) -> F) -> f64 {
    let mut start = Instant::now();
    for n in 0..WARM_UP + CALLS {
        if n == WARM_UP {
            start = Instant::now();
        }
        call(n % IDS).await.expect("the lock is free");
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
}
