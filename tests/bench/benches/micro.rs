//! The small things: nanoseconds of what happens in memory.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dlock::{Client, Error, Slot, distributed_lock};
use tokio::runtime::Runtime;

#[distributed_lock(key = "order:{id}", mode = "write")]
async fn annotated(id: u64) -> Result<u64, Error> {
    Ok(black_box(id))
}

async fn by_hand(id: u64) -> Result<u64, Error> {
    let lock = dlock::installed()?.rw_lock(format!("order:{id}"))?;
    let guard = lock.write().await?;
    let output = black_box(id);
    guard.release().await?;
    Ok(output)
}

fn micro(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime starts");
    let client = runtime.block_on(Client::connect("memory://"));
    let client = client.expect("memory is always there");
    dlock::install(client.clone());

    criterion.bench_function("slot of a key", |bencher| {
        bencher.iter(|| Slot::of(black_box("dlock:{order:123456}")));
    });
    criterion.bench_function("key of a name", |bencher| {
        bencher.iter(|| client.rw_lock(black_box("order:123456")));
    });
    let lock = client.rw_lock("order:1").expect("a valid name");
    criterion.bench_function("memory store: write, release", |bencher| {
        bencher.to_async(&runtime).iter(|| async {
            let guard = lock.write().await.expect("the lock is free");
            guard.release().await.expect("the lock was held");
        });
    });
    criterion.bench_function("memory store: read, drop", |bencher| {
        bencher.to_async(&runtime).iter(|| async {
            drop(lock.read().await.expect("the lock is free"));
        });
    });
    criterion.bench_function("function with a guard", |bencher| {
        bencher.to_async(&runtime).iter(|| by_hand(black_box(7)));
    });
    criterion.bench_function("function with the attribute", |bencher| {
        bencher.to_async(&runtime).iter(|| annotated(black_box(7)));
    });
}

criterion_group!(benches, micro);
criterion_main!(benches);
