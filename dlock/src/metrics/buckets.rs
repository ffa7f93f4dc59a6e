//! Bounds for histograms.

/// Recommended bounds of histogram buckets for all metrics of this crate, in seconds: from local
/// hand-overs (tens of microseconds) over round trips (a millisecond) to jobs (minutes).
///
/// ```
/// use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
///
/// let _builder = PrometheusBuilder::new()
///     .set_buckets_for_metric(Matcher::Prefix("dlock_".into()), &dlock::metrics::BUCKETS)?;
/// # Ok::<(), metrics_exporter_prometheus::BuildError>(())
/// ```
pub const BUCKETS: [f64; 18] = [
    0.000_01, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25, 0.5, 1.0, 5.0, 30.0, 300.0,
];
