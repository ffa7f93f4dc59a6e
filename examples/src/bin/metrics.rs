//! What operators see: any recorder of the `metrics` facade, here the one for Prometheus.
//!
//! ```text
//! dlock_acquire_wait_seconds_count{lock="order:{id}",kind="rw",mode="write",outcome="acquired"} 3
//! dlock_contended_total{lock="order:{id}",kind="rw",mode="write"} 1
//! dlock_hold_seconds_count{lock="order:{id}",kind="rw",mode="write"} 3
//! ```

use dlock::{Client, distributed_lock};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[distributed_lock(key = "order:{id}")]
async fn ship(id: u64) -> Result<(), Failure> {
    tokio::task::yield_now().await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    // Before the first lock is used.
    let metrics = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Prefix("dlock_".into()), &dlock::metrics::BUCKETS)?
        .install_recorder()?;
    dlock::install(Client::connect("memory://").await?);

    ship(1).await?;
    let (one, two) = tokio::join!(ship(2), ship(2)); // one of them waits
    one.and(two)?;

    // The label is the key as written: not one time series for each order.
    let text = metrics.render();
    let mut shown: Vec<&str> = text
        .lines()
        .filter(|line| {
            [
                "wait_seconds_count",
                "contended_total",
                "hold_seconds_count",
            ]
            .iter()
            .any(|name| line.contains(name))
        })
        .filter(|line| line.contains("write") && !line.ends_with(" 0"))
        .collect();
    shown.sort_unstable();
    println!("{}", shown.join("\n"));
    Ok(())
}
