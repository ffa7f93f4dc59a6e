//! What metrics cost an acquire and its release: measured without a recorder, and with the
//! Prometheus recorder installed.
//!
//! `scripts/bench --cost`; fails above 300 ns for one of the two.

use std::time::{Duration, Instant};

use dlock::{Client, RwLock};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};

/// Many short rounds, the fastest of which nothing disturbed.
const ROUNDS: usize = 300;
const PAIRS: u32 = 1_000;
const LIMIT: Duration = Duration::from_nanos(300);

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts");
    let without = runtime.block_on(pair());
    let exporter = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Prefix("dlock_".into()), &dlock::metrics::BUCKETS)
        .expect("the bounds are not empty")
        .install_recorder()
        .expect("no other recorder is installed");
    let upkeep = std::thread::spawn(move || {
        // As a service does: samples are moved into buckets now and then.
        loop {
            std::thread::sleep(Duration::from_millis(200));
            exporter.run_upkeep();
        }
    });
    let with = runtime.block_on(pair());
    let each = with.saturating_sub(without) / 2;
    println!("acquire + release, no recorder:         {without:?}");
    println!("acquire + release, Prometheus recorder: {with:?}");
    println!("cost of metrics per operation:          {each:?}");
    assert!(!upkeep.is_finished(), "upkeep goes on");
    assert!(each < LIMIT, "more than {LIMIT:?}");
}

/// The fastest round, per pair.
async fn pair() -> Duration {
    let client = Client::connect("memory://")
        .await
        .expect("memory is always there");
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let lock = client.rw_lock("bench").expect("a valid name");
        best = best.min(round(&lock.label("bench")).await);
    }
    client.shutdown().await.expect("nothing is held");
    best
}

async fn round(lock: &RwLock) -> Duration {
    let start = Instant::now();
    for _ in 0..PAIRS {
        let guard = lock.write().await.expect("nobody else holds it");
        guard.release().await.expect("it was held");
    }
    start.elapsed() / PAIRS
}
