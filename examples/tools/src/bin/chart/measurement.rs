//! What the benchmark wrote.

use serde::Deserialize;

/// One number.
#[derive(Debug, Deserialize)]
pub(crate) struct Measurement {
    pub(crate) workload: String,
    pub(crate) system: String,
    pub(crate) metric: String,
    pub(crate) value: f64,
    pub(crate) unit: String,
}
