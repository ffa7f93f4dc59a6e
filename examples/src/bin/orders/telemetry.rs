//! Metrics.

use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use metrics::{Unit, describe_counter, describe_histogram, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use super::Failure;

const REQUESTS: &str = "orders_http_request_seconds";

/// Makes the recorder that all metrics of this process go to, dlock's included.
pub(crate) fn install() -> Result<PrometheusHandle, Failure> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Prefix("dlock_".into()), &dlock::metrics::BUCKETS)?
        .set_buckets_for_metric(Matcher::Full(REQUESTS.into()), &dlock::metrics::BUCKETS)?
        .install_recorder()?;
    describe_histogram!(REQUESTS, Unit::Seconds, "From a request to its answer.");
    describe_counter!(
        "orders_restocks_total",
        Unit::Count,
        "What became of the restocking job."
    );
    let upkeep = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(5)).await;
            upkeep.run_upkeep();
        }
    });
    Ok(handle)
}

/// Measures a request under its route, never its path.
pub(crate) async fn measure(path: MatchedPath, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let response = next.run(request).await;
    let route = path.as_str().to_owned();
    let status = response.status().as_u16().to_string();
    histogram!(REQUESTS, "route" => route, "status" => status).record(began.elapsed());
    response
}
