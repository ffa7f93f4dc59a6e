//! What was measured: medians of repeats, as a table and as JSON.

use std::{fmt::Write as _, path::Path};

use serde_json::json;

use crate::measure::Samples;

/// One number, measured several times.
#[derive(Debug)]
struct Entry {
    workload: &'static str,
    system: String,
    metric: &'static str,
    unit: &'static str,
    values: Samples,
}

/// All numbers of a run.
#[derive(Debug, Default)]
pub(crate) struct Results {
    entries: Vec<Entry>,
}

impl Results {
    /// Adds one measurement.
    pub(crate) fn add(
        &mut self,
        workload: &'static str,
        system: &str,
        metric: &'static str,
        unit: &'static str,
        value: f64,
    ) {
        let same = |entry: &&mut Entry| {
            entry.workload == workload && entry.system == system && entry.metric == metric
        };
        if let Some(entry) = self.entries.iter_mut().find(same) {
            entry.values.add(value);
            return;
        }
        self.entries.push(Entry {
            workload,
            system: system.to_owned(),
            metric,
            unit,
            values: Samples::from_iter([value]),
        });
    }

    /// The median of the repeats.
    pub(crate) fn get(&self, workload: &str, system: &str, metric: &str) -> Option<f64> {
        let entry = self.entries.iter().find(|entry| {
            entry.workload == workload && entry.system == system && entry.metric == metric
        });
        entry.map(|entry| entry.values.median())
    }

    /// The systems measured with a workload, in order.
    pub(crate) fn systems(&self, workload: &str) -> Vec<&str> {
        let mut systems = Vec::new();
        for entry in &self.entries {
            if entry.workload == workload && !systems.contains(&entry.system.as_str()) {
                systems.push(entry.system.as_str());
            }
        }
        systems
    }

    /// What was measured with a workload, in order.
    pub(crate) fn metrics(&self, workload: &str) -> Vec<&'static str> {
        let mut metrics = Vec::new();
        for entry in &self.entries {
            if entry.workload == workload && !metrics.contains(&entry.metric) {
                metrics.push(entry.metric);
            }
        }
        metrics
    }

    /// One Markdown table for each workload.
    pub(crate) fn to_markdown(&self, titles: &[(&'static str, &'static str)]) -> String {
        let mut text = String::new();
        for (workload, title) in titles {
            let mut metrics = Vec::new();
            for entry in self.entries.iter().filter(|e| e.workload == *workload) {
                if !metrics.contains(&(entry.metric, entry.unit)) {
                    metrics.push((entry.metric, entry.unit));
                }
            }
            if metrics.is_empty() {
                continue;
            }
            let _ = write!(text, "\n### {workload}: {title}\n\n| system |");
            for (metric, unit) in &metrics {
                let _ = write!(text, " {metric} [{unit}] |");
            }
            let _ = write!(text, "\n|---|{}\n", "---:|".repeat(metrics.len()));
            for system in self.systems(workload) {
                let _ = write!(text, "| {system} |");
                for (metric, _) in &metrics {
                    let cell = self.get(workload, system, metric);
                    let _ = write!(text, " {} |", cell.map_or_else(String::new, readable));
                }
                text.push('\n');
            }
        }
        text
    }

    /// Writes an array of `{workload, system, metric, value, unit}`, with the extremes of the repeats.
    pub(crate) fn write_json(&self, path: &Path) -> std::io::Result<()> {
        let entries: Vec<_> = self
            .entries
            .iter()
            .map(|entry| {
                json!({
                    "workload": entry.workload,
                    "system": entry.system,
                    "metric": entry.metric,
                    "value": entry.values.median(),
                    "unit": entry.unit,
                    "min": entry.values.percentile(0.0),
                    "max": entry.values.max(),
                    "repeats": entry.values.len(),
                })
            })
            .collect();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, serde_json::to_string_pretty(&entries)?)
    }
}

/// Three digits are as many as a measurement deserves.
pub(crate) fn readable(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
